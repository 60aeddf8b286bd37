// The queue against a model that is too simple to be wrong, under random requests.
#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_queue.hpp"

#include <map>
#include <random>

namespace troupe::test::element_queue_random_test {

namespace {

// Keeps every request ever made and finds what can happen next by looking through all of them.
struct model {
  struct request {
    uint64_t step;
    bool puts;
    std::vector<int> values; // still to put in
    int64_t wanted;
    bool open = true;
  };
  struct answer {
    error_kind kind = error_kind::ok;
    std::vector<int> values = {};
    bool operator==(const answer&) const = default;
  };

  request* first(bool puts) {
    for (auto& [id, one] : requests)
      if (one.open && one.puts == puts)
        return &one;
    return nullptr;
  }
  void finish(request& which, answer how) {
    which.open = false;
    for (auto& [id, one] : requests)
      if (&one == &which)
        answers[id] = std::move(how);
  }
  void add(uint64_t id, request what) {
    auto& added = requests.emplace(id, std::move(what)).first->second;
    if (added.puts && added.values.empty())
      finish(added, {});
    else if (added.puts && closed)
      finish(added, {error_kind::cancelled});
    settle();
  }
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      auto *put = first(true), *take = first(false);
      auto size = static_cast<int64_t>(elements.size());
      if (put && (size < capacity || (take && size < take->wanted))) {
        elements.push_back(put->values.front());
        put->values.erase(put->values.begin());
        if (put->values.empty())
          finish(*put, {});
        moved = true;
      } else if (take && size >= take->wanted) {
        auto end = elements.begin() + take->wanted;
        finish(*take, {error_kind::ok, {elements.begin(), end}});
        elements.erase(elements.begin(), end);
        moved = true;
      } else if (take && closed && !put) {
        finish(*take, {error_kind::out_of_range});
        moved = true;
      }
    }
  }
  template <class Which>
  void cancel(Which which) {
    for (auto& [id, one] : requests)
      if (one.open && which(id, one))
        finish(one, {error_kind::cancelled});
    settle();
  }

  int64_t capacity;
  std::vector<int> elements = {};
  std::map<uint64_t, request> requests = {};
  std::map<uint64_t, answer> answers = {};
  bool closed = false;
};

std::map<uint64_t, model::answer> to_answers(const answers& done) {
  std::map<uint64_t, model::answer> answers;
  for (const auto& one : done) {
    model::answer how{one.outcome.kind()};
    if (!one.tensors.empty())
      how.values.assign(one.tensors[0].values<int>().begin(), one.tensors[0].values<int>().end());
    if (!answers.emplace(one.who.number, std::move(how)).second)
      FAIL("request " << one.who.number << " was answered twice");
  }
  return answers;
}

} // namespace

TEST_CASE("no element is lost, doubled or reordered, whoever comes, goes and closes") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 400; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto below = [&](int bound) { return static_cast<int>(dice() % static_cast<unsigned>(bound)); };
    auto capacity = below(6);
    auto made = *element_queue::make({.name = "q", .capacity = capacity, .types = {dtype::i32}});
    auto& queue = *made;
    model expected{.capacity = capacity};
    answers done;
    auto stopped = failure(error_kind::cancelled, "stopped");
    int next_value = 0;
    for (uint64_t id = 0; id < 150; ++id) {
      auto step = static_cast<uint64_t>(below(8));
      auto what = below(100);
      if (what < 45) {
        std::vector<int> values(static_cast<size_t>(what < 25 ? 1 : below(7)));
        for (auto& value : values)
          value = next_value++;
        if (what < 25)
          queue.enqueue({{0, step}, id}, {tensor::scalar(values[0])}, done);
        else
          queue.enqueue_many({{0, step}, id}, {tensor::vector(values)}, done);
        expected.add(id, {step, true, values, 0});
      } else if (what < 90) {
        int64_t wanted = what < 70 ? 1 : 1 + below(8);
        if (what < 70)
          queue.dequeue({{0, step}, id}, {}, done);
        else
          queue.dequeue({{0, step}, id}, {.count = wanted, .many = true}, done);
        expected.add(id, {step, false, {}, wanted});
      } else if (what < 94) {
        queue.cancel({0, step}, stopped, done);
        expected.cancel([&](uint64_t, const auto& one) { return one.step == step; });
      } else if (what < 99 || id < 75) {
        auto victim = static_cast<uint64_t>(below(150));
        queue.cancel(request_id{{0, step}, victim}, stopped, done);
        expected.cancel(
            [&](uint64_t other, const auto& one) { return other == victim && one.step == step; });
      } else {
        bool cancel_pending = below(2) == 0;
        queue.close(cancel_pending, done);
        expected.closed = true;
        expected.cancel([&](uint64_t, const auto& one) { return cancel_pending && one.puts; });
      }
      REQUIRE(to_answers(done) == expected.answers);
      REQUIRE(queue.size() == static_cast<int64_t>(expected.elements.size()));
    }
    // In the order of the answers, dequeues gave rising numbers.
    int last = -1;
    for (const auto& one : done)
      if (!one.tensors.empty())
        for (auto value : one.tensors[0].values<int>()) {
          REQUIRE(value > last);
          last = value;
        }
  }
}

} // namespace troupe::test::element_queue_random_test
