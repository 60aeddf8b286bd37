#include "troupe/devices/gpu/core/read_word.hpp"

namespace troupe::gpu {
namespace {

// Where a device's copies come to. It goes with the device, as a copy may come later than anybody
// waits for it.
struct mailbox {
  ~mailbox() {
    of->deallocate_pinned(word);
    if (passed)
      of->destroy(passed);
  }

  driver* of = nullptr;
  std::mutex mutex;
  int32_t* word = nullptr;
  event passed = nullptr;
};

result<std::shared_ptr<mailbox>> make_mailbox(gpu_device& on) {
  auto made = std::make_shared<mailbox>();
  made->of = &on.driver();
  made->word = static_cast<int32_t*>(on.driver().allocate_pinned(sizeof(int32_t)));
  if (!made->word)
    return failure(error_kind::resource_exhausted, "no pinned memory for a number");
  TROUPE_ASSIGN(made->passed, on.driver().make_event());
  return made;
}

} // namespace

result<int32_t> read_word(gpu_device& on, const int32_t* from, std::chrono::microseconds at_most) {
  auto& driver = on.driver();
  TROUPE_ASSIGN(auto* own, on.kept<mailbox>(make_mailbox));
  std::lock_guard guard{own->mutex};
  TROUPE_TRY(driver.copy(own->word, from, sizeof(int32_t), direction::to_host, on.compute()));
  TROUPE_TRY(driver.record(own->passed, on.compute()));
  TROUPE_ASSIGN(auto passed, driver.wait(own->passed, at_most));
  if (!passed)
    return failure(error_kind::deadline_exceeded, "the GPU did not come to what was launched in ",
                   at_most.count() / 1000, " ms");
  return *own->word;
}

} // namespace troupe::gpu
