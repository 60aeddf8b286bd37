// Copies tensors from host memory to the memory of a device.
#pragma once
#include "troupe/runtime/device/accelerator.hpp"

#include <mutex>

namespace troupe {

/// A constant's copy on the device, shared by all steps of a program. Any thread may use it.
class cached_upload {
public:
  result<tensor> get(accelerator& target, const tensor& source) {
    std::lock_guard guard{mutex_};
    if (uploaded_.empty() || source_.raw() != source.raw()) {
      TROUPE_ASSIGN(uploaded_, target.upload(source));
      source_ = source; // keeps its address from being reused
    }
    return uploaded_;
  }

private:
  std::mutex mutex_;
  tensor source_, uploaded_;
};

/// Returns the tensor on the device; the same tensor if it is there already. With `kept`, returns
/// the copy of an earlier call.
inline result<tensor> upload(accelerator& target, const tensor& source, cached_upload* kept) {
  if (!source.on_host())
    return source;
  return kept ? kept->get(target, source) : target.upload(source);
}

} // namespace troupe
