// Any bytes as the state of a queue are refused, or kept as they were understood.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/runtime/state/element_queue.hpp"

namespace troupe::fuzz::queue_state {

FUZZ_TARGET(queue_state) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  for (auto order : {queue_order::fifo, queue_order::shuffled, queue_order::by_priority}) {
    auto make = [&] {
      return *element_queue::make(
          {.name = "q", .types = {dtype::i64, dtype::string}, .order = order});
    };
    auto queue = make(), other = make();
    answers done;
    if (!queue->restore(bytes, done)) {
      fuzz::require(queue->size() == 0);
      continue;
    }
    auto state = queue->state();
    fuzz::require(state.ok() && other->restore(*state, done).ok());
    fuzz::require(*other->state() == *state);
    for (auto remaining = queue->size(); remaining > 0; --remaining)
      queue->dequeue({{1, 1}, static_cast<uint64_t>(remaining)}, {}, done);
  }
  return 0;
}

} // namespace troupe::fuzz::queue_state
