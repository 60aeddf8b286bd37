// The part of a GPU's device that its tensors keep: streams, events and memory.
#pragma once
#include "troupe/devices/gpu/core/block_cache.hpp"
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/devices/gpu/core/marks.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"
#include "troupe/devices/gpu/core/reservation.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/device/memory_usage_source.hpp"
#include "troupe/runtime/device/swapping.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

namespace troupe::gpu {

class core_recording;

/// All that the compute stream is given runs in one line: a block that a tensor gave back may be
/// given out at once, because whoever uses it next runs later. Copies run beside that line, and
/// take blocks whose last use lies behind; so do exchanges with other devices.
class core final : public allocator,
                   public memory_usage_source,
                   public memory_space,
                   public std::enable_shared_from_this<core> {
public:
  static result<std::shared_ptr<core>> make(std::unique_ptr<driver> of, int ordinal,
                                            const memory_options& memory);
  ~core();

  // memory_space
  std::string name() const override { return concat("gpu:", ordinal_); }
  status copy(void* to, const void* from, size_t bytes) const noexcept override;
  status copy(const strided_copy& what) const noexcept override;
  status fill(void* to, const void* element, size_t element_bytes,
              int64_t count) const noexcept override;

  // allocator
  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;
  static void release(buffer* memory); ///< of tensors whose memory is a core's
  const memory_space* space() const noexcept override { return this; }
  const memory_usage_source* usage() const noexcept override { return this; }

  size_t bytes_in_use() const noexcept override;
  memory_statistics statistics() const;
  size_t limit() const noexcept { return limit_; }
  void release_cached() noexcept;

  driver& under() const noexcept { return *driver_; }
  /// Where this thread launches: into the line of all, or into its recording.
  stream compute() const noexcept;
  stream stream_of(copy_stream in) const noexcept {
    return in == copy_stream::to_host ? to_host_ : to_device_;
  }
  device_error_flags::place device_errors() const noexcept;

  result<std::unique_ptr<recording>> record();
  replay_statistics replays() const;

  result<tensor> upload(const tensor& from, device& by);
  void download(tensor from, std::function<void(result<tensor>)> done);
  result<tensor> take_over(const tensor& from);
  copy_statistics copies() const;
  void when_done(std::function<void(status)> done);
  status health() const;
  /// Calls it with the reason when the device is lost, from any thread and without a lock, or at
  /// once if it is.
  void on_lost(std::function<void(const status&)> act);
  /// Launches next to nothing, to see whether the device is lost.
  status probe();

  // Exchanges with other GPUs (collectives.hpp), on a stream of their own.
  result<std::shared_ptr<void>> record_position();
  result<stream> begin_exchange(const std::shared_ptr<void>& behind);
  status end_exchange(const tensor& input, const tensor& output);

  // runtime/device/swapping.hpp
  result<tensor> swap_out(const tensor& from);
  result<tensor> swap_in(const tensor& saved, allocator& memory);
  status wait_for(const tensor& pending);
  swap_statistics swaps() const;
  void forget_swapped(void* pinned) noexcept;

  /// Ends the thread; what has not been called back by then hears an error.
  void stop();

private:
  friend class core_recording;
  core(std::unique_ptr<driver> of, int ordinal, size_t limit,
       std::chrono::milliseconds give_back_after)
      : driver_(std::move(of)), ordinal_(ordinal), limit_(limit),
        give_back_after_(give_back_after) {}

  // Pinned memory of the host, for tensors that come from the device.
  class pinned_memory final : public allocator {
  public:
    explicit pinned_memory(core& of) : of_(of) {}
    void* allocate(size_t bytes) noexcept override;
    void deallocate(void* memory, size_t bytes) noexcept override;

  private:
    core& of_;
  };

  struct completion {
    event at = nullptr;
    std::function<void(status)> done;
    /// Of what was launched before: its device_errors are for `done`. None: `done` hears nothing.
    std::optional<uint64_t> epoch;
  };
  struct staging {
    event at;
    block memory;
  };
  struct taken {
    void* memory = nullptr;
    bool in_line = false; ///< launches before this moment may still use it
  };
  // Marks in the streams of copies, beside which a tensor's memory goes on; 0 for none.
  struct last_copies {
    uint64_t out = 0, in = 0, exchanged = 0;
  };
  struct swapped {
    block at; // pinned
    dtype type = dtype::none;
    shape dims;
    size_t bytes = 0;
  };

  status start();
  void destroy_streams() noexcept;
  status reserve(size_t bytes);
  status note(status outcome) const;
  status remember(status outcome) const;
  taken take(size_t bytes, bool for_copy) noexcept;
  taken find_block(size_t size, bool for_copy) noexcept;
  std::optional<block> take_from_driver(size_t size) noexcept;
  void join_pieces() noexcept;
  void follow_copies(const block& what, stream in) noexcept;
  bool take_recordings_back() noexcept;
  void* take_pinned(size_t bytes) noexcept;
  void cool_pinned() noexcept;
  void return_blocks() noexcept;
  void give_back_if_idle() noexcept;
  status wait_for_launched();
  void let_go(std::unique_lock<std::mutex>& guard) noexcept;
  result<event> take_event();
  result<event> end_of(stream in);
  status launch_upload(void* to, const tensor& from, bool in_line, device& by);
  status launch_download(void* to, const tensor& from, std::function<void(status)>& done);
  result<event> end_of_line();
  status launch_take_over(void* to, core& peer, event made, const tensor& from, bool in_line);
  void reclaim_staging();
  void destroy_later(launch_graph what) noexcept;
  void destroy_old_graphs() noexcept;
  void fail_later(std::function<void(status)> done, status why);
  void run_completions();
  status wait_for(event at);

  const std::unique_ptr<driver> driver_;
  const int ordinal_;
  const size_t limit_;
  const std::chrono::milliseconds give_back_after_;
  stream compute_ = nullptr, to_device_ = nullptr, to_host_ = nullptr, exchange_ = nullptr;
  pinned_memory pinned_{*this};

  mutable std::mutex mutex_;                                 // of what follows
  mark_list marks_, marks_out_, marks_in_, marks_exchanged_; // of the streams
  block_cache free_, free_pinned_;
  reservation reserve_;
  size_t in_use_ = 0, peak_ = 0, pinned_in_use_ = 0;
  size_t from_driver_ = 0;                              // in blocks, and in the reserve
  std::unordered_map<const void*, last_copies> copied_; // tensors that copies may still use
  std::unordered_map<const void*, swapped> swapped_;    // by their pinned memory
  std::deque<block> cooling_; // pinned blocks of the past, until their copies have run
  swap_statistics swaps_;
  std::shared_ptr<core> self_; // while tensors need it
  uint64_t allocations_ = 0, allocations_before_ = 0;
  std::vector<event> events_;
  std::deque<staging> staging_;
  std::vector<core_recording*> recordings_;
  std::unordered_map<const void*, core_recording*> recorded_blocks_;
  struct outlived {
    uint64_t mark; // behind it nothing runs any more
    launch_graph what;
  };
  std::deque<outlived> old_graphs_;
  replay_statistics replays_;
  copy_statistics copies_;

  mutable std::mutex health_mutex_;
  mutable status lost_;
  mutable std::vector<std::function<void(const status&)>> when_lost_;
  mutable status failed_launch_; // of a copy, until somebody waits for the device

  std::mutex completion_mutex_;
  std::condition_variable completion_changed_;
  std::deque<completion> completions_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace troupe::gpu
