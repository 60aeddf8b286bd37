// The queue against a simple model, under random requests.
#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_queue.hpp"

#include <map>
#include <random>

namespace troupe::test::element_queue_random_test {

namespace {

// Keeps every request and finds the next possible event by searching all of them.
struct model {
  struct request {
    uint64_t step;
    bool puts;
    std::vector<int> values; // not yet put in
    int64_t wanted;
    bool open = true;
  };
  struct answer {
    error_kind kind = error_kind::ok;
    std::vector<int> values = {};
    bool operator==(const answer&) const = default;
  };

  request* first(bool puts) {
    for (auto& [id, candidate] : requests)
      if (candidate.open && candidate.puts == puts)
        return &candidate;
    return nullptr;
  }
  void finish(request& finished, answer result) {
    finished.open = false;
    for (auto& [id, candidate] : requests)
      if (&candidate == &finished)
        answers[id] = std::move(result);
  }
  void add(uint64_t id, request new_request) {
    auto& added = requests.emplace(id, std::move(new_request)).first->second;
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
  void cancel(Which matches) {
    for (auto& [id, candidate] : requests)
      if (candidate.open && matches(id, candidate))
        finish(candidate, {error_kind::cancelled});
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
  for (const auto& answered : done) {
    model::answer model_answer{answered.outcome.kind()};
    if (!answered.tensors.empty())
      model_answer.values.assign(answered.tensors[0].values<int>().begin(),
                                 answered.tensors[0].values<int>().end());
    if (!answers.emplace(answered.id.number, std::move(model_answer)).second)
      FAIL("request " << answered.id.number << " was answered twice");
  }
  return answers;
}

} // namespace

TEST_CASE("no element is lost, duplicated or reordered under random requests") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 400; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto below = [&](int bound) { return static_cast<int>(dice() % static_cast<unsigned>(bound)); };
    auto capacity = below(6);
    auto new_queue =
        *element_queue::make({.name = "q", .capacity = capacity, .types = {dtype::i32}});
    auto& queue = *new_queue;
    model expected{.capacity = capacity};
    answers done;
    auto stopped = failure(error_kind::cancelled, "stopped");
    int next_value = 0;
    for (uint64_t id = 0; id < 150; ++id) {
      auto step = static_cast<uint64_t>(below(8));
      auto event = below(100);
      if (event < 45) {
        std::vector<int> values(static_cast<size_t>(event < 25 ? 1 : below(7)));
        for (auto& value : values)
          value = next_value++;
        if (event < 25)
          queue.enqueue({{0, step}, id}, {tensor::scalar(values[0])}, done);
        else
          queue.enqueue_many({{0, step}, id}, {tensor::vector(values)}, done);
        expected.add(id, {step, true, values, 0});
      } else if (event < 90) {
        int64_t wanted_count = event < 70 ? 1 : 1 + below(8);
        if (event < 70)
          queue.dequeue({{0, step}, id}, {}, done);
        else
          queue.dequeue({{0, step}, id}, {.count = wanted_count, .as_batch = true}, done);
        expected.add(id, {step, false, {}, wanted_count});
      } else if (event < 94) {
        queue.cancel(step_id{0, step}, stopped, done);
        expected.cancel([&](uint64_t, const auto& candidate) { return candidate.step == step; });
      } else if (event < 99 || id < 75) {
        auto victim = static_cast<uint64_t>(below(150));
        queue.cancel(request_id{{0, step}, victim}, stopped, done);
        expected.cancel([&](uint64_t other_id, const auto& candidate) {
          return other_id == victim && candidate.step == step;
        });
      } else {
        bool cancel_pending = below(2) == 0;
        queue.close(cancel_pending, done);
        expected.closed = true;
        expected.cancel(
            [&](uint64_t, const auto& candidate) { return cancel_pending && candidate.puts; });
      }
      REQUIRE(to_answers(done) == expected.answers);
      REQUIRE(queue.size() == static_cast<int64_t>(expected.elements.size()));
    }
    // In the order of the answers, dequeues returned ascending numbers.
    int last = -1;
    for (const auto& answered : done)
      if (!answered.tensors.empty())
        for (auto value : answered.tensors[0].values<int>()) {
          REQUIRE(value > last);
          last = value;
        }
  }
}

namespace {

// The elements in the queue, those that running steps hold, and those consumed. Each element is in
// one of these.
struct books {
  std::map<int, int> in; // the priority of each value
  std::map<uint64_t, std::vector<int>> held_values;
  size_t spent = 0;
};

element of_value(queue_order order, int value) {
  if (order == queue_order::by_priority)
    return {tensor::scalar(static_cast<int64_t>(value % 7)), tensor::scalar(value)};
  return {tensor::scalar(value)};
}

// Random requests to a queue of any kind, with steps that succeed and steps that fail.
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
      auto& answered = done[read];
      if (auto put = puts.find(answered.id.number); put != puts.end() && answered.outcome.ok()) {
        for (auto value : put->second)
          REQUIRE(expected.in.emplace(value, value % 7).second);
      } else if (!answered.tensors.empty()) {
        for (auto value : answered.tensors.back().values<int>()) {
          auto position = expected.in.find(value);
          REQUIRE(position != expected.in.end()); // neither invented nor returned twice
          if (order == queue_order::fifo)
            REQUIRE(position == expected.in.begin());
          if (order == queue_order::by_priority) {
            for (auto& [other_value, priority] : expected.in)
              REQUIRE((priority > position->second ||
                       (priority == position->second && other_value >= value)));
          }
          expected.in.erase(position);
          expected.held_values[answered.id.step.sequence].push_back(value);
        }
      }
      answered.tensors.clear();
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
    auto event = below(100);
    if (event < 45) {
      puts[id] = {next_value};
      queue->enqueue({{0, step}, id}, of_value(order, next_value++), done);
    } else if (event < 80) {
      auto count = 1 + below(3);
      auto is_batch = count > 1 || below(2) == 0;
      queue->dequeue({{0, step}, id},
                     {.count = count, .as_batch = is_batch, .up_to = is_batch && below(2) == 0},
                     done);
    } else if (event < 98) {
      auto failed = below(2) == 0;
      if (failed)
        queue->cancel(step_id{0, step}, stopped, done);
      look();
      // Returned elements may be taken again in the same call.
      if (failed)
        for (auto value : expected.held_values[step])
          expected.in.emplace(value, value % 7);
      else
        expected.spent += expected.held_values[step].size();
      expected.held_values.erase(step);
      queue->cancel(step_id{0, step}, stopped, done); // it has no further requests
      queue->end_step({0, step}, failed, done);
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

TEST_CASE("a queue of any kind loses no element, whichever steps fail") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round)
    keep_books(base + round, 200);
}

TEST_CASE("a queue of any kind loses no element through a million requests", "[slow]") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 2000; ++round)
    keep_books(base + round, 500);
}

} // namespace troupe::test::element_queue_random_test
