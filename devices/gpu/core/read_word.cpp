#include "troupe/devices/gpu/core/read_word.hpp"

namespace troupe::gpu {
namespace {

// The pinned target of copies. It lives as long as the device, because a copy may run after its
// reader's timeout.
struct mailbox {
  ~mailbox() {
    owner->deallocate_pinned(word);
    if (passed)
      owner->destroy(passed);
  }

  driver* owner = nullptr;
  std::mutex mutex;
  int32_t* word = nullptr;
  event passed = nullptr;
};

result<std::shared_ptr<mailbox>> make_mailbox(gpu_device& target) {
  auto created = std::make_shared<mailbox>();
  created->owner = &target.driver();
  created->word = static_cast<int32_t*>(target.driver().allocate_pinned(sizeof(int32_t)));
  if (!created->word)
    return failure(error_kind::resource_exhausted, "no pinned memory for a number");
  TROUPE_ASSIGN(created->passed, target.driver().make_event());
  return created;
}

} // namespace

result<int32_t> read_word(gpu_device& target, const int32_t* source,
                          std::chrono::microseconds at_most) {
  auto& driver = target.driver();
  TROUPE_ASSIGN(auto* target_box, target.get_or_make<mailbox>(make_mailbox));
  std::lock_guard guard{target_box->mutex};
  TROUPE_TRY(
      driver.copy(target_box->word, source, sizeof(int32_t), direction::to_host, target.compute()));
  TROUPE_TRY(driver.record(target_box->passed, target.compute()));
  TROUPE_ASSIGN(auto passed, driver.wait(target_box->passed, at_most));
  if (!passed)
    return failure(error_kind::deadline_exceeded, "the GPU did not reach the launch within ",
                   at_most.count() / 1000, " ms");
  return *target_box->word;
}

} // namespace troupe::gpu
