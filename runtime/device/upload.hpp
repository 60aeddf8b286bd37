// Takes what lies in the host's memory to a device's.
#pragma once
#include "troupe/runtime/device/accelerator.hpp"

#include <mutex>

namespace troupe {

/// A constant's copy on the device, which all steps of a program share. Any thread may use it.
class kept_upload {
public:
  result<tensor> get(accelerator& to, const tensor& from) {
    std::lock_guard guard{mutex_};
    if (there_.empty() || from_.raw() != from.raw()) {
      TROUPE_ASSIGN(there_, to.upload(from));
      from_ = from; // so that nothing else can lie at its address
    }
    return there_;
  }

private:
  std::mutex mutex_;
  tensor from_, there_;
};

/// Returns the tensor on the device; the same one if it lies there already. With `kept`, what was
/// uploaded before.
inline result<tensor> upload(accelerator& to, const tensor& from, kept_upload* kept) {
  if (!from.on_host())
    return from;
  return kept ? kept->get(to, from) : to.upload(from);
}

} // namespace troupe
