// The context of a GPU, which its tensors keep alive: streams, events and memory.
#pragma once
#include "troupe/devices/gpu/core/block_cache.hpp"
#include "troupe/devices/gpu/core/completion_queue.hpp"
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/devices/gpu/core/loss_record.hpp"
#include "troupe/devices/gpu/core/marks.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"
#include "troupe/devices/gpu/core/reservation.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/device/memory_usage_source.hpp"
#include "troupe/runtime/device/swap_support.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

namespace troupe::gpu {

class graph_capture;

/// The compute stream runs its launches in order. So a freed block can be reused immediately: its
/// next user runs later. Copies and exchanges with other devices run beside the compute stream, and
/// take blocks whose last use has passed.
class gpu_context final : public allocator,
                          public memory_usage_source,
                          public memory_space,
                          public std::enable_shared_from_this<gpu_context> {
public:
  static result<std::shared_ptr<gpu_context>> make(std::unique_ptr<driver> gpu_driver, int ordinal,
                                                   const memory_options& memory,
                                                   std::chrono::milliseconds watchdog);
  ~gpu_context();

  // memory_space
  std::string name() const override { return concat("gpu:", ordinal_); }
  status copy(void* target, const void* source, size_t bytes) const noexcept override;
  status copy(const strided_copy& described) const noexcept override;
  status fill(void* target, const void* element, size_t element_bytes,
              int64_t count) const noexcept override;

  // allocator
  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;
  static void release(buffer* memory); ///< for tensors in the memory of a context
  const memory_space* space() const noexcept override { return this; }
  const memory_usage_source* usage() const noexcept override { return this; }

  size_t bytes_in_use() const noexcept override;
  memory_statistics statistics() const;
  size_t limit() const noexcept { return limit_; }
  void release_cached() noexcept;

  driver& gpu_driver() const noexcept { return *driver_; }
  /// The stream in which this thread launches: the compute stream, or that of its capture.
  stream compute() const noexcept;
  stream stream_of(copy_stream in) const noexcept {
    return in == copy_stream::to_host ? to_host_ : to_device_;
  }
  device_error_flags::place device_errors() const noexcept;

  result<std::unique_ptr<recording>> record();
  replay_statistics replays() const;

  result<tensor> upload(const tensor& source, device& host);
  void download(tensor source, std::function<void(result<tensor>)> done);
  result<tensor> copy_from_peer(const tensor& source);
  copy_statistics copies() const;
  void notify_when_done(std::function<void(status)> done);
  status health() const;
  /// Calls `act` once with the reason when the device is lost, or if it is lost already: on the
  /// device's thread, without a lock. Not called after stop().
  void on_lost(std::function<void(const status&)> act);
  /// Records an event, to check whether the device is lost.
  status probe();

  // Exchanges with other GPUs (collectives.hpp), on a stream of their own.
  result<std::shared_ptr<void>> record_position();
  result<stream> begin_exchange(const std::shared_ptr<void>& position);
  status end_exchange(const tensor& input, const tensor& output);

  // runtime/device/swap_support.hpp
  result<tensor> swap_out(const tensor& source);
  result<tensor> swap_in(const tensor& saved, allocator& memory);
  status wait_for(const tensor& pending);
  swap_statistics swaps() const;
  void forget_swapped(void* pinned) noexcept;

  /// Ends the thread; pending callbacks get an error. Returns false if launches of a device that
  /// was lost by its silence may still run: their memory must then stay.
  bool stop();

private:
  friend class graph_capture;
  gpu_context(std::unique_ptr<driver> gpu_driver, int ordinal, size_t limit,
              std::chrono::milliseconds give_back_after, std::chrono::milliseconds watchdog)
      : driver_(std::move(gpu_driver)), ordinal_(ordinal), limit_(limit),
        give_back_after_(give_back_after), watchdog_(watchdog) {}

  // The allocator of pinned host memory, for tensors that are downloaded.
  class pinned_memory final : public allocator {
  public:
    explicit pinned_memory(gpu_context& owner) : owner_(owner) {}
    void* allocate(size_t bytes) noexcept override;
    void deallocate(void* memory, size_t bytes) noexcept override;

  private:
    gpu_context& owner_;
  };

  struct staging {
    event copied;
    block memory;
  };
  struct allocation {
    void* memory = nullptr;
    bool must_wait = false; ///< earlier launches may still use the memory
  };
  // Marks in the streams of copies that still use a tensor's memory; 0 for none.
  struct last_copies {
    uint64_t out = 0, in = 0, exchanged = 0;
  };
  struct swapped {
    block pinned;
    dtype type = dtype::none;
    shape dims;
    size_t bytes = 0;
  };

  status start();
  void destroy_streams() noexcept;
  status reserve(size_t bytes);
  status note(status outcome) const;
  status lose(const std::string& why, loss_record::cause noticed_by) const;
  status remember(status outcome) const;
  allocation take(size_t bytes, bool for_copy) noexcept;
  allocation find_block(size_t size, bool for_copy) noexcept;
  std::optional<block> take_from_driver(size_t size) noexcept;
  void coalesce_reserve() noexcept;
  void follow_copies(const block& reused, stream in) noexcept;
  bool release_recordings() noexcept;
  void* take_pinned(size_t bytes) noexcept;
  void reclaim_pinned() noexcept;
  void return_blocks() noexcept;
  void give_back_if_idle() noexcept;
  status wait_for_launched();
  void unlock_and_release(std::unique_lock<std::mutex>& guard) noexcept;
  result<event> take_event();
  result<event> end_of(stream in);
  status launch_upload(void* target, const tensor& source_tensor, bool must_wait, device& host);
  status launch_download(void* target, const tensor& source, std::function<void(status)>& done);
  result<event> end_of_compute();
  status launch_peer_copy(void* target, gpu_context& peer, event peer_event, const tensor& source,
                          bool must_wait);
  void reclaim_staging();
  void destroy_later(launch_graph graph) noexcept;
  void destroy_old_graphs() noexcept;
  void fail_later(std::function<void(status)> done, status reason);
  void run_completions();
  void complete(completion next);
  status await(const completion& next);
  status wait_for(event awaited);

  const std::unique_ptr<driver> driver_;
  const int ordinal_;
  const size_t limit_;
  const std::chrono::milliseconds give_back_after_, watchdog_; // 0: never
  stream compute_ = nullptr, to_device_ = nullptr, to_host_ = nullptr, exchange_ = nullptr;
  pinned_memory pinned_{*this};

  mutable std::mutex mutex_;                                 // of the following members
  mark_list marks_, marks_out_, marks_in_, marks_exchanged_; // of the streams
  block_cache free_, free_pinned_;
  reservation reserve_;
  size_t in_use_ = 0, peak_ = 0, pinned_in_use_ = 0;
  size_t from_driver_ = 0;                              // in blocks, and in the reserve
  std::unordered_map<const void*, last_copies> copied_; // tensors that copies may still use
  std::unordered_map<const void*, swapped> swapped_;    // by their pinned memory
  std::deque<block> pinned_in_copies_; // freed pinned blocks, until their copies have run
  swap_statistics swaps_;
  std::shared_ptr<gpu_context> self_; // while tensors use the context
  uint64_t allocations_ = 0, allocations_before_ = 0;
  std::vector<event> events_;
  std::deque<staging> staging_;
  std::vector<graph_capture*> recordings_;
  std::unordered_map<const void*, graph_capture*> recorded_blocks_;
  struct retired_graph {
    uint64_t mark; // after which the graph does not run any more
    launch_graph graph;
  };
  std::deque<retired_graph> old_graphs_;
  replay_statistics replays_;
  copy_statistics copies_;

  mutable loss_record loss_;
  mutable completion_queue completions_{loss_};
  std::thread thread_;
};

} // namespace troupe::gpu
