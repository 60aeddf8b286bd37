#include "tests/support/catch.hpp"
#include "troupe/runtime/state/barrier.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace troupe::test::barrier_test {

namespace {

request_id request_of(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

tensor keys(const std::vector<std::string>& names) { return tensor::vector(names); }

struct barrier_fixture {
  std::unique_ptr<barrier> tested;
  answers done;
  explicit barrier_fixture(int64_t capacity = -1)
      : tested(*barrier::make(
            {.name = "b", .types = {dtype::i32, dtype::i32}, .capacity = capacity})) {}
  void put(uint64_t request, const std::vector<std::string>& keys_inserted, int component,
           const std::vector<int>& values) {
    tested->insert_many(request_of(request), keys(keys_inserted), tensor::vector(values), component,
                        done);
  }
  void take(uint64_t request, int64_t count, bool small = false, uint64_t step = 2) {
    tested->take_many(request_of(request, step), {.count = count, .allow_small_batch = small},
                      done);
  }
  // "3:[x y]" for a take, "2:ok" for other requests.
  std::string answered() {
    std::string text;
    for (const auto& reply : std::exchange(done, {})) {
      text += concat(text.empty() ? "" : " ", reply.id.number, ':');
      if (reply.tensors.empty()) {
        text += to_string(reply.outcome.kind());
        continue;
      }
      const char* between = "[";
      for (const auto& key : reply.tensors.at(1).values<std::string>())
        text += concat(std::exchange(between, " "), key);
      text += ']';
    }
    return text;
  }
};

} // namespace

TEST_CASE("a complete element is returned in the order of its first component") {
  barrier_fixture t;
  t.put(1, {"x", "y"}, 0, {1, 2});
  t.take(2, 2);
  t.put(3, {"y"}, 1, {20});
  CHECK(t.tested->ready() == 1);
  CHECK(t.tested->incomplete() == 1);
  t.put(4, {"x"}, 1, {10});
  REQUIRE(t.done.size() == 4);
  const auto& batch = t.done.back().tensors;
  CHECK(
      std::ranges::equal(batch.at(0).values<int64_t>(),
                         std::vector<int64_t>{barrier::first_insertion, barrier::first_insertion}));
  CHECK(std::ranges::equal(batch.at(2).values<int>(), std::vector{1, 2}));
  CHECK(std::ranges::equal(batch.at(3).values<int>(), std::vector{10, 20}));
}

TEST_CASE("an invalid insertion changes nothing") {
  barrier_fixture t;
  t.put(1, {"x"}, 0, {1});
  t.put(2, {"y", "x"}, 0, {2, 3}); // x already has this component
  t.put(3, {"z", "z"}, 1, {2, 3});
  t.put(4, {"z"}, 2, {2});
  t.put(5, {"z"}, 1, {2, 3});
  CHECK(t.answered() == "1:ok 2:invalid_argument 3:invalid_argument 4:invalid_argument "
                        "5:invalid_argument");
  CHECK(t.tested->incomplete() == 1);
}

TEST_CASE("a closed barrier takes no new key, lets existing elements be completed, and then ends") {
  barrier_fixture t;
  t.put(1, {"x", "y"}, 0, {1, 2});
  t.take(2, 3, true);
  t.take(3, 1);
  t.tested->close(false, t.done);
  t.put(4, {"z"}, 0, {3});
  t.put(5, {"x"}, 1, {1});
  CHECK(t.answered() == "1:ok 4:cancelled 5:ok");
  t.put(6, {"y"}, 1, {1});
  CHECK(t.answered() == "6:ok 2:[x y] 3:out_of_range");
}

TEST_CASE("closing a barrier with cancellation drops incomplete elements") {
  barrier_fixture t;
  t.put(1, {"x", "y"}, 0, {1, 2});
  t.put(2, {"x"}, 1, {1});
  t.tested->close(true, t.done);
  t.put(3, {"y"}, 1, {1});
  t.take(4, 2, true);
  CHECK(t.answered() == "1:ok 2:ok 3:cancelled 4:[x]");
}

TEST_CASE("an insertion waits while the maximum number of complete elements is reached") {
  barrier_fixture t{1};
  t.put(1, {"x"}, 0, {1});
  t.put(2, {"x"}, 1, {1});
  t.put(3, {"y"}, 0, {1});
  CHECK(t.answered() == "1:ok 2:ok");
  t.take(4, 1);
  CHECK(t.answered() == "4:[x] 3:ok");
}

TEST_CASE("a failed step's elements return to the barrier") {
  barrier_fixture t;
  t.put(1, {"x", "y"}, 0, {1, 2});
  t.put(2, {"x", "y"}, 1, {1, 2});
  t.take(3, 1, false, 20);
  t.take(4, 1, false, 30);
  t.tested->end_step({0, 30}, false, t.done);
  t.tested->end_step({0, 20}, true, t.done);
  t.take(5, 1, false, 40);
  CHECK(t.answered() == "1:ok 2:ok 3:[x] 4:[y] 5:[x]");
}

namespace {

void check_random_requests(unsigned rounds) {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < rounds; ++round) {
    INFO("seed " << base + round);
    std::mt19937 dice{base + round};
    barrier_fixture t{static_cast<int64_t>(dice() % 4) - 1};
    std::multiset<std::string> complete;
    std::map<std::string, int> parts;
    std::map<uint64_t, std::vector<std::string>> asked; // keys by insertion
    std::map<uint64_t, std::multiset<std::string>> held_keys;
    std::set<uint64_t> failed;
    size_t read = 0;
    auto look = [&] {
      for (; read < t.done.size(); ++read) {
        const auto& answered = t.done[read];
        if (!answered.tensors.empty())
          for (const auto& key : answered.tensors.at(1).values<std::string>()) {
            auto place = complete.find(key);
            REQUIRE(place != complete.end());
            complete.erase(place);
            held_keys[answered.id.step.sequence].insert(key);
          }
        else if (answered.outcome.ok() && asked.contains(answered.id.number))
          for (const auto& key : asked[answered.id.number])
            if (++parts[key] % 2 == 0) // it may be returned before it is known to be complete
              complete.insert(key);
      }
    };
    uint64_t step = 100;
    for (uint64_t id = 0; id < 120; ++id) {
      auto event = dice() % 10;
      if (event < 5) {
        auto component = static_cast<int>(dice() % 2);
        auto key = concat("k", dice() % 40);
        asked[id] = {key};
        if (parts[key] < 2)
          t.put(id, {key}, component, {component});
      } else if (event < 8) {
        t.take(id, 1 + dice() % 2, false, ++step);
      } else {
        auto step_number = 101 + dice() % 60;
        look();
        t.tested->cancel(step_id{0, step_number}, stopped, t.done);
        auto fails = dice() % 2 == 0;
        if (fails)
          complete.merge(held_keys[step_number]);
        held_keys[step_number].clear();
        t.tested->end_step(step_id{0, step_number}, fails, t.done);
      }
      look();
      REQUIRE(t.tested->ready() == static_cast<int64_t>(complete.size()));
    }
  }
}

} // namespace

TEST_CASE("no element of a barrier is lost or duplicated under random requests") {
  check_random_requests(300);
}

TEST_CASE("a barrier loses no element through a million requests", "[slow]") {
  check_random_requests(8500);
}

} // namespace troupe::test::barrier_test
