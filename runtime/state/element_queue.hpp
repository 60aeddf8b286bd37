// The rules of a queue whose users may have to wait (white paper 4.6).
#pragma once
#include "troupe/runtime/state/element_store.hpp"
#include "troupe/runtime/state/responder.hpp"

#include <deque>
#include <memory>
#include <unordered_map>

namespace troupe {

/// The kinds of queues, by the order in which elements come out.
enum class queue_order : uint8_t { fifo, shuffled, by_priority };

/// What a queue's elements look like, and how many it holds before enqueues wait.
struct queue_options {
  std::string name;
  int64_t capacity = -1;                  ///< negative: no limit
  std::vector<dtype> types = {};          ///< of an element's components
  std::vector<partial_shape> shapes = {}; ///< of the components; empty: anything goes
  queue_order order = queue_order::fifo;
  /// Elements of a batch may differ in the extents that `shapes` leaves open; zeros fill them up.
  bool pads = false;
  int64_t min_after_dequeue = 0; ///< of a shuffled queue: stay in until it is closed
  uint64_t seed = 0;             ///< of a shuffled queue
  bool declared_seed = true;     ///< else `seed` was drawn, and another declaration may differ
};

/// Waiting requests are served strictly in the order of their arrival, those that put in and those
/// that take out apart. What a step has taken out goes back to its place if the step fails.
class element_queue final : public responder {
public:
  /// Fails with invalid_argument where the options contradict each other.
  static result<std::unique_ptr<element_queue>> make(queue_options options,
                                                     allocator& from = heap_allocator());

  /// Puts in one element: one tensor per component. Waits while the queue is full, fails with
  /// `cancelled` when it is closed.
  void enqueue(request_id who, element what, answers& done);
  /// Puts in the slices along the first axis, which all components share, one after the other as
  /// room appears. When it fails halfway, the elements that are in stay in, as in TensorFlow.
  void enqueue_many(request_id who, element batch, answers& done);

  /// How a dequeue is meant.
  struct taking {
    int64_t count = 1;
    bool many = false;     ///< joined along a new first axis, also if it is one
    bool up_to = false;    ///< fewer do, once the queue is closed
    bool goes_back = true; ///< if the step fails
  };
  /// Takes out elements, all or none. Waits while there are too few; fails with out_of_range, the
  /// end of the data, when the queue is closed and no enqueue waits. While it is the next to be
  /// served, the queue takes in as many as it wants, even beyond the capacity. Fails, and takes
  /// nothing, where the elements' shapes differ.
  void dequeue(request_id who, taking how, answers& done);

  /// Refuses enqueues from now on. Those that wait already are finished, or cancelled if asked;
  /// what the queue holds can still be taken out. Closing again is allowed.
  void close(bool cancel_pending, answers& done);

  /// While it is suspended, nothing waits: who puts in is answered at once, beyond the capacity,
  /// and who takes out is refused (cancelled). So steps that use it end, and what is in stays as it
  /// is while it is saved. A reset and restore() end this, too: who suspended it may be gone.
  void suspend(bool suspended, answers& done);

  /// What is in, as bytes for restore(); what running steps have taken out is in, as if they had
  /// failed. Fails for elements that are lists, or in a device's memory.
  result<std::string> state() const;
  /// Becomes what another queue of the kind was: what is in, or waits to be put in, is dropped, and
  /// what running steps have taken does not go back. Fails, and changes nothing, for what is no
  /// such state, and for elements that do not belong here.
  status restore(std::string_view state, answers& done);

  bool closed() const noexcept { return closed_; }
  /// Elements that are in; those that a dequeue waits to complete are among them.
  int64_t size() const noexcept override { return store_->size(); }
  size_t waiting_enqueues() const noexcept { return enqueues_.size(); }

  std::string_view kind() const noexcept override { return "queue"; }
  status declare_again(const responder& other) const override;
  void cancel(const which_requests& which, const status& why, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void settle(step_id step, bool failed, answers& done) override;
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  std::string holds() const override;
  uint64_t bytes() const override;

private:
  struct pending_enqueue {
    request_id who;
    element tensors;
    bool many = false;
    int64_t next = 0, count = 1; // elements that are in, and all
  };
  struct pending_dequeue {
    request_id who;
    taking how;
  };

  element_queue(queue_options options, allocator& from);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status closed_error() const;
  status suspended_error() const;
  status check(const element& given, bool many) const;
  void add(pending_enqueue what, answers& done);
  int64_t available() const noexcept;
  bool has_room() const noexcept;
  bool admit(answers& done);
  bool serve(answers& done);
  void settle_lines(answers& done);
  result<element> slice(const pending_enqueue& from) const;
  using elements = std::vector<numbered_element>;
  result<element> join(const elements& all) const;

  const queue_options options_;
  allocator* memory_;
  std::unique_ptr<element_store> store_;
  std::deque<pending_enqueue> enqueues_;
  std::deque<pending_dequeue> dequeues_;
  // What running steps have taken out, in order, until it is known how they end.
  std::unordered_map<step_id, std::vector<numbered_element>> taken_;
  uint64_t next_number_ = 0;
  bool closed_ = false, suspended_ = false;
};

} // namespace troupe
