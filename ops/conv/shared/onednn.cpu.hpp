// A wrapper of oneDNN versions 2 and 3 that hides their differences.
#pragma once
#include "troupe/devices/cpu/one_openmp_thread.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

namespace troupe::ops::onednn {

inline const dnnl::engine& processor() {
  static const dnnl::engine cpu_engine{dnnl::engine::kind::cpu, 0};
  return cpu_engine;
}

/// Describes a primitive; version 2 needs a descriptor first. Throws dnnl::error where oneDNN does
/// not implement it.
template <class Primitive, class... Args>
auto describe(const dnnl::primitive_attr& attr, const Args&... args) {
  if constexpr (requires { typename Primitive::desc; })
    return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, processor());
  else
    return typename Primitive::primitive_desc(processor(), args..., attr);
}

/// The same for a gradient, with the description of the forward primitive.
template <class Primitive, class Forward, class... Args>
auto describe_gradient(const dnnl::primitive_attr& attr, const Forward& forward,
                       const Args&... args) {
  if constexpr (requires { typename Primitive::desc; })
    return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, processor(),
                                              forward);
  else
    return typename Primitive::primitive_desc(processor(), args..., forward, attr);
}

/// The caller provides the scratchpad, so that it counts as the step's memory and primitives may be
/// shared.
inline dnnl::primitive_attr with_own_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// The zero point of an argument, an i32, is known only when the primitive runs.
template <class Attr>
void take_zero_point(Attr& attr, int argument) {
  if constexpr (requires { attr.set_zero_points_mask(argument, 0); })
    attr.set_zero_points_mask(argument, 0);
  else
    attr.set_zero_points(argument, 0, {DNNL_RUNTIME_S32_VAL});
}

inline dnnl::memory over(const dnnl::memory::desc& layout, const void* data) {
  return {layout, processor(), const_cast<void*>(data)};
}

/// Memory from the step's allocator; it lives as long as the tensor.
inline result<tensor> buffer_of(kernel_context& at, size_t bytes) {
  return tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}, at.memory());
}

/// Runs the body for each of `count` jobs on the device's threads; oneDNN itself stays on the
/// calling thread of each job. Returns the first failure, dnnl::error as `unimplemented`.
template <class Body>
status for_each_job(kernel_context& at, int64_t count, double nanoseconds_each, const Body& body) {
  std::mutex mutex;
  status outcome;
  at.parallel_for(count, nanoseconds_each, [&](int64_t begin, int64_t end) {
    status done;
    try {
      one_openmp_thread guard;
      dnnl::stream stream{processor()};
      for (auto i = begin; i < end && done; ++i)
        done = body(stream, i);
    } catch (const dnnl::error& error) {
      done = failure(error_kind::unimplemented, "oneDNN: ", error.what());
    } catch (const std::bad_alloc&) {
      done = failure(error_kind::resource_exhausted, "no memory for oneDNN");
    }
    if (done)
      return;
    std::lock_guard lock{mutex};
    outcome = std::move(done);
  });
  return outcome;
}

} // namespace troupe::ops::onednn
