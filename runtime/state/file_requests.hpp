// Files that steps read and write as a whole, or look for.
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/runtime/state/responder.hpp"

#include <atomic>

namespace troupe {

/// Does what it is asked as errands, at once and in any order. What a step has asked that fails is
/// not begun any more; what was begun is done to its end.
class file_requests final : public responder {
public:
  using responder::responder;

  /// Gives the bytes of a file.
  void read(request_id who, std::string path);
  void write(request_id who, std::string path, std::string content);
  /// Gives the paths that fit any of the patterns.
  void match(request_id who, std::vector<std::string> patterns);

  std::string_view kind() const noexcept override { return "file access"; }
  status declare_again(const responder&) const override { return {}; }
  void cancel(const which_requests& which, const status& why, answers& done) override;
  void settle(step_id, bool, answers&) override {}
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  void take_errands(std::vector<errand>& to) override;
  void errand_ended(uint32_t number, status outcome, std::vector<tensor> values,
                    answers& done) override;

private:
  // What the errand and its request share.
  struct file_work {
    std::vector<tensor> made;
    std::atomic<bool> unwanted = false; // its step has failed
  };
  struct pending {
    request_id who;
    uint32_t number = 0;
    std::shared_ptr<file_work> work;
  };
  template <class Work>
  void add(request_id who, Work work);

  std::vector<pending> waiting_;
  std::vector<errand> errands_;
  uint32_t next_errand_ = 1;
};

} // namespace troupe
