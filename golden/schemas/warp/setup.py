from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="warps",
    version="1.0",
    packages=["warps"],
    ext_modules=[CppExtension("warps._library", ["csrc/warps.cpp"], extra_compile_args=["-O0", "-g0"])],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False, no_python_abi_suffix=True)},
)
