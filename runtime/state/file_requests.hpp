// Reads, writes and matches whole files for steps.
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <atomic>

namespace troupe {

/// Runs each request in the background, immediately and in any order. A request whose step fails is
/// not started any more; a request that was started runs to its end.
class file_requests final : public waitable_resource {
public:
  using waitable_resource::waitable_resource;

  /// Returns the bytes of a file.
  void read(request_id request, std::string path);
  void write(request_id request, std::string path, std::string content);
  /// Returns the paths that match any of the patterns.
  void match(request_id request, std::vector<std::string> patterns);

  std::string_view kind() const noexcept override { return "file access"; }
  status declare_again(const waitable_resource&) const override { return {}; }
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  void end_step(step_id, bool, answers&) override {}
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  void take_operations(std::vector<deferred_operation>& to) override;
  void operation_ended(uint32_t number, status outcome, std::vector<tensor> values,
                       answers& done) override;

private:
  // Shared by a request and its background work.
  struct file_work {
    std::vector<tensor> outputs;
    std::atomic<bool> unwanted = false; // its step has failed
  };
  struct pending {
    request_id id;
    uint32_t number = 0;
    std::shared_ptr<file_work> work;
  };
  template <class Work>
  void add(request_id request, Work work);

  std::vector<pending> waiting_;
  std::vector<deferred_operation> operations_;
  uint32_t next_operation_ = 1;
};

} // namespace troupe
