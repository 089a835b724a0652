from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="windows",
    version="1.0",
    packages=["windows"],
    ext_modules=[CppExtension("windows._library", ["csrc/windows.cpp"], extra_compile_args=["-O0", "-g0"])],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False, no_python_abi_suffix=True)},
)
