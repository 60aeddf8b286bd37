#include "tests/support/catch.hpp"
#include "troupe/runtime/state/staging_area.hpp"

#include <map>
#include <optional>
#include <random>
#include <set>

namespace troupe::test::staging_area_random_test {

namespace {

const status stopped = failure(error_kind::cancelled, "stopped");

// Random requests of steps that succeed or fail. The tuples in the area, those that steps hold and
// those consumed are all tuples that were put, each once; no request waits forever.
void keep_books(unsigned seed, int requests) {
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto below = [&](int bound) { return static_cast<int>(dice() % static_cast<unsigned>(bound)); };
  auto order = below(2) == 0 ? staging_order::fifo : staging_order::by_key;
  int64_t capacity = below(2) == 0 ? 0 : 1 + below(5);
  auto area = *staging_area::make({.name = "s", .order = order, .capacity = capacity});
  std::set<int64_t> in;
  std::map<uint64_t, std::set<int64_t>> held_values;
  std::map<uint64_t, int64_t> puts;                 // waiting puts, by request
  std::map<uint64_t, std::optional<int64_t>> takes; // waiting takes; of a key, or of any
  answers done;
  auto look = [&] {
    for (auto& answered : std::exchange(done, {})) {
      auto id = answered.id.number;
      if (auto put = puts.extract(id); !put.empty() && answered.outcome.ok())
        REQUIRE(in.insert(put.mapped()).second);
      auto take = takes.extract(id);
      if (take.empty() || !answered.outcome.ok())
        continue;
      auto value = *answered.tensors.back().data<int64_t>();
      REQUIRE(in.contains(value)); // neither invented nor returned twice
      if (take.mapped())
        REQUIRE(value == *take.mapped());
      else if (order == staging_order::fifo)
        REQUIRE(value == *in.begin());
      in.erase(value);
      held_values[answered.id.step.sequence].insert(value);
    }
  };
  int64_t next = 0;
  uint64_t last_step = 0;
  std::vector<uint64_t> running;
  for (int i = 0; i < requests; ++i) {
    auto id = static_cast<uint64_t>(i);
    if (running.size() < 6)
      running.push_back(++last_step);
    auto step = running[static_cast<size_t>(below(static_cast<int>(running.size())))];
    request_id request{{0, step}, id};
    auto event = below(100);
    if (event < 40) {
      puts[id] = next;
      auto value = tensor::scalar(next);
      if (order == staging_order::fifo)
        area->put(request, {value}, done);
      else
        area->put(request, {.key = next, .indices = {0}}, {value}, done);
      ++next;
    } else if (event < 75) {
      auto key = order == staging_order::by_key && next > 0 && below(2) == 0
                     ? std::optional{next - 1 - below(static_cast<int>(std::min<int64_t>(next, 8)))}
                     : std::nullopt;
      takes[id] = key;
      area->take(request, {.key = key}, done);
    } else {
      // Waiting requests are cancelled, and taken tuples are returned or consumed.
      auto failed = below(2) == 0;
      area->cancel(step_id{0, step}, stopped, done);
      look();
      CHECK(area->holds_for({0, step}) == !held_values[step].empty());
      if (failed)
        in.merge(held_values[step]);
      held_values.erase(step);
      area->end_step({0, step}, failed, done);
      std::erase(running, step);
    }
    look();
    REQUIRE(area->size() == static_cast<int64_t>(in.size()));
    if (!puts.empty())
      REQUIRE((capacity > 0 && area->size() >= capacity));
    for (const auto& [taker, key] : takes)
      REQUIRE((key ? !in.contains(*key) : in.empty()));
  }
}

} // namespace

TEST_CASE("a staging area loses no tuple, whichever steps fail") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round)
    keep_books(base + round, 200);
}

TEST_CASE("a staging area loses no tuple through a million requests", "[slow]") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 2000; ++round)
    keep_books(base + round, 500);
}

} // namespace troupe::test::staging_area_random_test
