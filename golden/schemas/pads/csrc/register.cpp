#include "pads.h"

TORCH_LIBRARY(pads, m) {
  m.def("filled(Tensor x, int length, float value=0.0) -> Tensor");
  FOR_META("filled", pads::filled_meta);
}

FOR_DEVICE(CPU, "filled", pads::filled_cpu)
