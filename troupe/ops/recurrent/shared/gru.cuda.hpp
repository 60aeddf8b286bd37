// What the kernels of gated recurrent units on GPUs include.
#pragma once
#include "troupe/ops/matmul/shared/product.cuda.hpp"
#include "troupe/ops/recurrent/shared/gru_kernels.hpp"

#include <math.h>

#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"
