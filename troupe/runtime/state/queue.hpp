// The rules of a first-in first-out queue whose users may have to wait (white paper 4.6). Knows no
// threads, no clocks and no actors: every call says at once who has got an answer by it.
#pragma once
#include "troupe/runtime/types/step_id.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace troupe {

/// Who asks. Requests of one step are cancelled together; a pair must not wait twice at once.
struct queue_request {
  step_id step;
  uint64_t request = 0;
  bool operator==(const queue_request&) const = default;
};

/// The one answer to a request: the tensors of a dequeue, nothing for an enqueue, or an error.
struct queue_completion {
  queue_request who;
  status outcome;
  std::vector<tensor> tensors = {};
};

/// What a queue's elements look like, and how many it holds before enqueues wait.
struct queue_options {
  std::string name;
  int64_t capacity = -1;                  ///< negative: no limit
  std::vector<dtype> types = {};          ///< of an element's components
  std::vector<partial_shape> shapes = {}; ///< of the components; empty: anything goes
};

/// Every call appends the answers that became possible to `done`, in the order in which they became
/// so. Waiting requests are served strictly in the order of their arrival, those that put in and
/// those that take out apart. Not thread-safe.
class fifo_queue {
public:
  using completions = std::vector<queue_completion>;

  /// Fails with invalid_argument where types and shapes do not fit together.
  static result<fifo_queue> make(queue_options options, allocator& from = heap_allocator());

  /// Puts in one element: one tensor per component. Waits while the queue is full, fails with
  /// `cancelled` when it is closed.
  void enqueue(queue_request who, std::vector<tensor> element, completions& done);
  /// Puts in the slices along the first axis, which all components share, one after the other as
  /// room appears. When it fails halfway, the elements that are in stay in, as in TensorFlow.
  void enqueue_many(queue_request who, std::vector<tensor> batch, completions& done);

  /// Takes out the oldest element. Waits while there is none; fails with out_of_range, the end of
  /// the data, when the queue is closed and nobody waits to put more in.
  void dequeue(queue_request who, completions& done);
  /// Takes out `count` elements, joined along a new first axis; all or none. While it is the next
  /// to be served, the queue takes in as many as it wants, even beyond the capacity. Fails, and
  /// takes nothing, where the elements' shapes differ.
  void dequeue_many(queue_request who, int64_t count, completions& done);

  /// Refuses enqueues from now on. Those that wait already are finished, or cancelled if asked;
  /// what the queue holds can still be taken out. Closing again is allowed.
  void close(bool cancel_pending, completions& done);

  /// Puts back what a dequeue gave that nobody could take any more, before all others: one element,
  /// or a batch of `many`.
  void put_back(std::vector<tensor> given, bool many, completions& done);

  /// Drops all elements, gives up all that waits, and opens again.
  void reset(const status& why, completions& done);

  /// Gives up all that a step waits for, each with `why`. What waited to take out has taken
  /// nothing.
  void cancel(step_id step, const status& why, completions& done);
  /// Gives up one request, such as one that waited too long; nothing happens if it does not wait.
  void cancel(queue_request who, const status& why, completions& done);

  const std::string& name() const noexcept { return options_.name; }
  bool closed() const noexcept { return closed_; }
  /// Elements that can be taken out; those that a dequeue_many waits to complete are among them.
  int64_t size() const noexcept { return static_cast<int64_t>(elements_.size()); }
  size_t waiting_enqueues() const noexcept { return enqueues_.size(); }

private:
  using element = std::vector<tensor>;

  struct pending_enqueue {
    queue_request who;
    element tensors;
    bool many = false;
    int64_t next = 0, count = 1; // elements that are in, and all
  };
  struct pending_dequeue {
    queue_request who;
    bool many = false;
    int64_t count = 1;
  };

  fifo_queue(queue_options options, allocator& from)
      : options_(std::move(options)), memory_(&from) {}

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status closed_error() const;
  status check(const element& given, bool many) const;
  bool has_room() const noexcept;
  bool admit(completions& done);
  bool serve(completions& done);
  void settle(completions& done);
  result<element> slice(const pending_enqueue& from) const;
  result<element> gather(int64_t count) const;

  queue_options options_;
  allocator* memory_;
  std::deque<element> elements_;
  std::deque<pending_enqueue> enqueues_;
  std::deque<pending_dequeue> dequeues_;
  bool closed_ = false;
};

} // namespace troupe
