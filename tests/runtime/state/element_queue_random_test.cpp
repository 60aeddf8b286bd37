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
        queue.cancel(step_id{0, step}, stopped, done);
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

namespace {

// What is in, what running steps hold, and what came out for good: of each element one of these.
struct books {
  std::map<int, int> in; // by value: its priority
  std::map<uint64_t, std::vector<int>> held;
  size_t spent = 0;
};

element of_value(queue_order order, int value) {
  if (order == queue_order::by_priority)
    return {tensor::scalar(static_cast<int64_t>(value % 7)), tensor::scalar(value)};
  return {tensor::scalar(value)};
}

// Random requests to a queue of any kind, with steps that end well and steps that fail.
void keep_books(unsigned seed, int requests) {
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto below = [&](int bound) { return static_cast<int>(dice() % static_cast<unsigned>(bound)); };
  auto order = static_cast<queue_order>(below(3));
  auto capacity = below(2) == 0 ? -1 : 3 + below(6);
  queue_options options{.name = "q", .capacity = capacity, .types = {dtype::i32}, .order = order};
  if (order == queue_order::by_priority)
    options.types.insert(options.types.begin(), dtype::i64);
  if (order == queue_order::shuffled)
    options.min_after_dequeue = below(3);
  options.seed = seed;
  auto queue = *element_queue::make(options);
  books expected;
  answers done;
  size_t read = 0;
  std::map<uint64_t, std::vector<int>> puts; // values that an enqueue would put in
  auto stopped = failure(error_kind::cancelled, "stopped");
  bool closed = false;
  auto look = [&] {
    for (; read < done.size(); ++read) {
      auto& one = done[read];
      if (auto put = puts.find(one.who.number); put != puts.end() && one.outcome.ok()) {
        for (auto value : put->second)
          REQUIRE(expected.in.emplace(value, value % 7).second);
      } else if (!one.tensors.empty()) {
        for (auto value : one.tensors.back().values<int>()) {
          auto it = expected.in.find(value);
          REQUIRE(it != expected.in.end()); // neither invented nor given twice
          if (order == queue_order::fifo)
            REQUIRE(it == expected.in.begin());
          if (order == queue_order::by_priority) {
            for (auto& [other, priority] : expected.in)
              REQUIRE((priority > it->second || (priority == it->second && other >= value)));
          }
          expected.in.erase(it);
          expected.held[one.who.step.sequence].push_back(value);
        }
      }
      one.tensors.clear();
    }
  };
  int next_value = 0;
  uint64_t steps = 0;
  std::vector<uint64_t> running;
  for (int i = 0; i < requests; ++i) {
    auto id = static_cast<uint64_t>(i);
    if (running.size() < 6)
      running.push_back(++steps);
    auto step = running[static_cast<size_t>(below(static_cast<int>(running.size())))];
    auto what = below(100);
    if (what < 45) {
      puts[id] = {next_value};
      queue->enqueue({{0, step}, id}, of_value(order, next_value++), done);
    } else if (what < 80) {
      auto count = 1 + below(3);
      auto many = count > 1 || below(2) == 0;
      queue->dequeue({{0, step}, id},
                     {.count = count, .many = many, .up_to = many && below(2) == 0}, done);
    } else if (what < 98) {
      auto failed = below(2) == 0;
      if (failed)
        queue->cancel(step_id{0, step}, stopped, done);
      look();
      // What goes back may come out again in the same call.
      if (failed)
        for (auto value : expected.held[step])
          expected.in.emplace(value, value % 7);
      else
        expected.spent += expected.held[step].size();
      expected.held.erase(step);
      queue->cancel(step_id{0, step}, stopped, done); // it asks nothing more
      queue->settle({0, step}, failed, done);
      std::erase(running, step);
    } else if (!closed && i > requests / 2) {
      closed = true;
      queue->close(below(2) == 0, done);
    }
    look();
    REQUIRE(queue->size() == static_cast<int64_t>(expected.in.size()));
  }
}

} // namespace

TEST_CASE("a queue of any kind keeps its books, whichever steps fail") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round)
    keep_books(base + round, 200);
}

TEST_CASE("a queue of any kind keeps its books through a million requests", "[slow]") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 2000; ++round)
    keep_books(base + round, 500);
}

} // namespace troupe::test::element_queue_random_test
