#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

#include <math.h>
#include <mutex>
#include <set>
#include <string>

namespace troupe::ops::check_numerics_gpu {
namespace {

// Device errors may be read after the program that owned the message was destroyed.
const char* lasting(const std::string& text) {
  static std::mutex one_at_a_time;
  static auto& texts = *new std::set<std::string>;
  std::lock_guard guard{one_at_a_time};
  return texts.insert(text).first->c_str();
}

result<std::shared_ptr<void>> prepare_check_numerics(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<const char*>(
      lasting(setup.origin.attr<std::string>("message") + ": not all values are finite"))};
}

template <class T>
struct check_numerics_body {
  gpu::device_errors wrong;
  const T* x;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (!isfinite(gpu::load(x[i])))
      wrong.add();
  }
};

template <class T>
status run_check_numerics(kernel_context& at) {
  const auto& x = at.input(0);
  gpu::device_errors wrong{at, at.state<const char*>()};
  TROUPE_TRY(gpu::for_each(at, x.elements(), check_numerics_body<T>{wrong, x.data<T>()}));
  at.set_output(0, x);
  return {};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(check_numerics){
    .op = "CheckNumerics",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_check_numerics<float16>},
            {dtype::bf16, run_check_numerics<bfloat16>},
            {dtype::f32, run_check_numerics<float>},
            {dtype::f64, run_check_numerics<double>}},
    .prepare = prepare_check_numerics,
};

} // namespace troupe::ops::check_numerics_gpu
