// A link of a task, like link_pair.hpp's, with configurable demand for steps' tensors and access to
// the peer's memory.
#pragma once
#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/catch.hpp"

#include <cstring>
#include <map>
#include <set>

namespace troupe::test {

// A link whose owner decides which tensors are wanted; by default everything, immediately.
struct task_end {
  explicit task_end(link_options options = options_of("task"))
      : token(options.memory_token),
        end_link(
            std::move(options),
            {.on_hello = {},
             .on_message = [this](message received) { got.push_back(std::move(received)); },
             .wanted =
                 [this](step_id step) {
                   auto demanded = steps.find(step);
                   return demanded == steps.end() ? fetch_decision::now : demanded->second;
                 },
             .on_lost = [this](step_id step, status reason) { lost[step] = std::move(reason); },
             .on_announce = [this](step_id step) { announced.insert(step); }}) {}

  std::vector<char> take(size_t window) {
    std::vector<char> bytes;
    end_link.fill(bytes, window);
    taken += bytes.size();
    return bytes;
  }
  status give(std::span<const char> bytes) { return end_link.receive(std::as_bytes(bytes)); }
  // Reads the memory that the other end lends, as another process would. Checks that it is valid.
  void read_from(task_end& lender, uint64_t min_bytes) {
    end_link.enable_memory_reads(
        [this, &lender](std::span<std::byte> to, uint64_t from) -> status {
          if (from < 4096)
            return invalid("address below 4096, which is not mapped");
          std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
          read += to.size();
          if (lender.token && lender.token->words[0] == 0)
            return failure(error_kind::unavailable, "the lender has ended the connection");
          return {};
        },
        min_bytes);
  }
  status become(step_id step, fetch_decision now) {
    steps[step] = now;
    return end_link.review(step);
  }

  std::map<step_id, fetch_decision> steps;
  std::map<step_id, status> lost;
  std::set<step_id> announced;
  std::vector<message> got;
  size_t taken = 0; // bytes that this end has written
  size_t read = 0;  // bytes read from the peer's memory
  std::shared_ptr<lending_token> token;
  link end_link;
};

inline status talk(task_end& a, task_end& b, size_t window = 1 << 20) {
  for (bool moved = true; moved;) {
    auto to_b = a.take(window), to_a = b.take(window);
    moved = !to_b.empty() || !to_a.empty();
    TROUPE_TRY(b.give(to_b));
    TROUPE_TRY(a.give(to_a));
  }
  return {};
}

inline message push(step_id step, int64_t elements, uint32_t key = 1) {
  return tensor_push{step, key, false, counted(elements)};
}

// Checks that all messages were sent, and that neither end holds memory of payloads.
inline void check_clean(const task_end& from, const task_end& to) {
  CHECK(from.end_link.drained());
  CHECK(to.end_link.drained());
  CHECK(from.end_link.pending_bytes() == 0);
  CHECK(to.end_link.pending_bytes() == 0);
}

} // namespace troupe::test
