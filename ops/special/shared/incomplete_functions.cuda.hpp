// The GPU functions that incomplete_functions.hpp needs.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/special/shared/incomplete_functions.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct log_gamma {
  TROUPE_DEVICE double operator()(double x) const {
#ifdef __CUDA_ARCH__
    return ::lgamma(x);
#else
    int sign = 0; // lgamma would write it to a global variable
    return ::lgamma_r(x, &sign);
#endif
  }
};

struct digamma_of {
  TROUPE_DEVICE double operator()(double x) const { return digamma(x); }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
