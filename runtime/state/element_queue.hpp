// A queue of elements, as a state machine over requests that may have to wait (white paper 4.6).
#pragma once
#include "troupe/runtime/state/element_store.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <memory>
#include <unordered_map>

namespace troupe {

/// The kinds of queues, by the order in which elements come out.
enum class queue_order : uint8_t { fifo, shuffled, by_priority };

/// The form of a queue's elements, and its limits.
struct queue_options {
  std::string name;
  int64_t capacity = -1;                  ///< negative: no limit
  std::vector<dtype> types = {};          ///< of an element's components
  std::vector<partial_shape> shapes = {}; ///< of the components; empty: any shapes
  queue_order order = queue_order::fifo;
  /// Elements of a batch may differ in the extents that `shapes` leaves open; zeros pad them.
  bool pads = false;
  int64_t min_after_dequeue = 0; ///< shuffled queue: elements that stay in until it is closed
  uint64_t seed = 0;             ///< shuffled queue
  bool declared_seed = true;     ///< false: `seed` was drawn at random, and need not agree
};

/// Enqueues are served strictly in the order of their arrival, and so are dequeues. Elements that a
/// step has dequeued go back to their places if the step fails.
class element_queue final : public waitable_resource {
public:
  /// Fails with invalid_argument where the options contradict each other.
  static result<std::unique_ptr<element_queue>> make(queue_options options,
                                                     allocator& memory = heap_allocator());

  /// Enqueues one element: one tensor per component. Waits while the queue is full; fails with
  /// `cancelled` if the queue is closed.
  void enqueue(request_id request, element components, answers& done);
  /// Enqueues the slices along the first axis, which all components share, one by one as room
  /// appears. If it fails halfway, the elements that were enqueued stay, as in TensorFlow.
  void enqueue_many(request_id request, element batch, answers& done);

  /// Options of a dequeue.
  struct dequeue_options {
    int64_t count = 1;
    bool as_batch = false;         ///< stack the elements along a new first axis, also a single one
    bool up_to = false;            ///< accept fewer elements once the queue is closed
    bool return_on_failure = true; ///< the elements go back if the step fails
  };
  /// Dequeues `count` elements or none. Waits while there are too few; fails with out_of_range, the
  /// end of the data, if the queue is closed and no enqueue waits. While it is the next to be
  /// served, the queue admits as many elements as it needs, even beyond the capacity. Fails, and
  /// takes nothing, if the elements to stack have different shapes.
  void dequeue(request_id request, dequeue_options options, answers& done);

  /// Refuses enqueues from now on. Waiting enqueues are completed, or cancelled if `cancel_pending`
  /// is set; the elements in the queue can still be dequeued. Closing again is allowed.
  void close(bool cancel_pending, answers& done);

  /// While the queue is suspended, no request waits: an enqueue is answered immediately, beyond the
  /// capacity, and a dequeue fails (cancelled). So the steps that use the queue end, and its
  /// content stays as it is while it is saved. reset() and restore() also end the suspension, since
  /// the client that suspended the queue may have disconnected.
  void suspend(bool suspended, answers& done);

  /// Serializes the elements for restore(). Elements that running steps have dequeued are included,
  /// as if the steps had failed. Fails for elements that are lists, or in a device's memory.
  result<std::string> state() const;
  /// Replaces the content by a state of another queue of the same kind. Drops the elements in the
  /// queue and those of waiting enqueues; elements that running steps have dequeued do not go back.
  /// Fails, and changes nothing, for a malformed state, and for elements of other types or shapes.
  status restore(std::string_view state, answers& done);

  bool closed() const noexcept { return closed_; }
  /// Number of elements, including those that a waiting dequeue of several elements will get.
  int64_t size() const noexcept override { return store_->size(); }
  size_t waiting_enqueues() const noexcept { return enqueues_.size(); }

  std::string_view kind() const noexcept override { return "queue"; }
  status declare_again(const waitable_resource& other) const override;
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void end_step(step_id step, bool failed, answers& done) override;
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  std::string element_type_text() const override;
  uint64_t bytes() const override;

private:
  struct pending_enqueue {
    request_id id;
    element tensors;
    bool is_batch = false;
    int64_t next = 0, count = 1; // number of elements that were admitted, and in all
  };
  struct pending_dequeue {
    request_id id;
    dequeue_options options;
  };

  element_queue(queue_options options, allocator& memory);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status closed_error() const;
  status suspended_error() const;
  status check(const element& components, bool is_batch) const;
  void add(pending_enqueue enqueued, answers& done);
  int64_t available() const noexcept;
  bool has_room() const noexcept;
  bool admit(answers& done);
  bool serve(answers& done);
  void serve_waiting(answers& done);
  result<element> slice(const pending_enqueue& enqueued) const;
  using elements = std::vector<numbered_element>;
  result<element> join(const elements& dequeued) const;

  const queue_options options_;
  allocator* memory_;
  std::unique_ptr<element_store> store_;
  std::deque<pending_enqueue> enqueues_;
  std::deque<pending_dequeue> dequeues_;
  // Elements that running steps have dequeued, in order, until the steps end.
  std::unordered_map<step_id, std::vector<numbered_element>> taken_;
  uint64_t next_number_ = 0;
  bool closed_ = false, suspended_ = false;
};

} // namespace troupe
