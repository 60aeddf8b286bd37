// A link of a task, as link_pair.hpp's, which says which steps' tensors it wants and may read
// another's memory.
#pragma once
#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/catch.hpp"

#include <cstring>
#include <map>
#include <set>

namespace troupe::testing {

// A link whose owner says what is wanted; by default everything, now.
struct task_end {
  explicit task_end(link_options options = options_of("task"))
      : token(options.lends),
        it(std::move(options),
           {.on_hello = {},
            .on_message = [this](message what) { got.push_back(std::move(what)); },
            .wanted =
                [this](step_id step) {
                  auto found = steps.find(step);
                  return found == steps.end() ? demand::now : found->second;
                },
            .on_lost = [this](step_id step, status why) { lost[step] = std::move(why); },
            .on_announce = [this](step_id step) { announced.insert(step); }}) {}

  std::vector<char> take(size_t window) {
    std::vector<char> bytes;
    it.fill(bytes, window);
    taken += bytes.size();
    return bytes;
  }
  status give(std::span<const char> bytes) { return it.receive(std::as_bytes(bytes)); }
  // Reads out of what that end lends, as another process would; what is wrong in there counts.
  void read_from(task_end& lender, uint64_t least) {
    it.read_near(
        [this, &lender](std::span<std::byte> to, uint64_t from) -> status {
          if (from < 4096)
            return invalid("that is no memory");
          std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
          read += to.size();
          if (lender.token && lender.token->words[0] == 0)
            return failure(error_kind::unavailable, "it has ended the connection");
          return {};
        },
        least);
  }
  status become(step_id step, demand now) {
    steps[step] = now;
    return it.review(step);
  }

  std::map<step_id, demand> steps;
  std::map<step_id, status> lost;
  std::set<step_id> announced;
  std::vector<message> got;
  size_t taken = 0; // bytes that it has written
  size_t read = 0;  // out of the other's memory
  std::shared_ptr<lending_token> token;
  link it;
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

// As it was before anything was sent.
inline void check_clean(const task_end& from, const task_end& to) {
  CHECK(from.it.drained());
  CHECK(to.it.drained());
  CHECK(from.it.pending_bytes() == 0);
  CHECK(to.it.pending_bytes() == 0);
}

} // namespace troupe::testing
