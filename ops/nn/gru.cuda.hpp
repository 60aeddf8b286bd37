// What the kernels of gated recurrent units on GPUs include.
#pragma once
#include "troupe/ops/math/product.cuda.hpp"
#include "troupe/ops/nn/gru_kernels.hpp"

#include <math.h>

#include "troupe/ops/lanes.cuda.hpp"
