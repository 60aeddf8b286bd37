// The queue against a simple model, under random requests.
#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_queue.hpp"

#include <map>
#include <random>

namespace troupe::test::element_queue_random_test {

namespace {

const status stopped = failure(error_kind::cancelled, "stopped");

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

// A queue and its model, which get the same random requests.
class compared_queue {
public:
  explicit compared_queue(unsigned seed) : dice_(seed) {}

  // The request or event with this number.
  void act(uint64_t id) {
    auto step = static_cast<uint64_t>(below(8));
    auto event = below(100);
    if (event < 45) {
      enqueue(id, step, event < 25);
    } else if (event < 90) {
      dequeue(id, step, event < 70);
    } else if (event < 94) {
      queue_->cancel(step_id{0, step}, stopped, done_);
      expected_.cancel([&](uint64_t, const auto& candidate) { return candidate.step == step; });
    } else if (event < 99 || id < 75) {
      auto victim = static_cast<uint64_t>(below(150));
      queue_->cancel(request_id{{0, step}, victim}, stopped, done_);
      expected_.cancel([&](uint64_t other_id, const auto& candidate) {
        return other_id == victim && candidate.step == step;
      });
    } else {
      bool cancel_pending = below(2) == 0;
      queue_->close(cancel_pending, done_);
      expected_.closed = true;
      expected_.cancel(
          [&](uint64_t, const auto& candidate) { return cancel_pending && candidate.puts; });
    }
  }

  void check() const {
    REQUIRE(to_answers(done_) == expected_.answers);
    REQUIRE(queue_->size() == static_cast<int64_t>(expected_.elements.size()));
  }

  // In the order of the answers, dequeues returned ascending numbers.
  void check_order() const {
    int last = -1;
    for (const auto& answered : done_)
      if (!answered.tensors.empty())
        for (auto value : answered.tensors[0].values<int>()) {
          REQUIRE(value > last);
          last = value;
        }
  }

private:
  int below(int bound) { return static_cast<int>(dice_() % static_cast<unsigned>(bound)); }

  void enqueue(uint64_t id, uint64_t step, bool is_single) {
    std::vector<int> values(static_cast<size_t>(is_single ? 1 : below(7)));
    for (auto& value : values)
      value = next_value_++;
    if (is_single)
      queue_->enqueue({{0, step}, id}, {tensor::scalar(values[0])}, done_);
    else
      queue_->enqueue_many({{0, step}, id}, {tensor::vector(values)}, done_);
    expected_.add(id, {step, true, values, 0});
  }

  void dequeue(uint64_t id, uint64_t step, bool is_single) {
    int64_t wanted_count = is_single ? 1 : 1 + below(8);
    if (is_single)
      queue_->dequeue({{0, step}, id}, {}, done_);
    else
      queue_->dequeue({{0, step}, id}, {.count = wanted_count, .as_batch = true}, done_);
    expected_.add(id, {step, false, {}, wanted_count});
  }

  std::mt19937 dice_;
  int64_t capacity_ = below(6);
  std::unique_ptr<element_queue> queue_ =
      *element_queue::make({.name = "q", .capacity = capacity_, .types = {dtype::i32}});
  model expected_{.capacity = capacity_};
  answers done_;
  int next_value_ = 0;
};

} // namespace

TEST_CASE("no element is lost, duplicated or reordered under random requests") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 400; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    compared_queue queue{seed};
    for (uint64_t id = 0; id < 150; ++id) {
      queue.act(id);
      queue.check();
    }
    queue.check_order();
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
class random_queue_requests {
public:
  explicit random_queue_requests(unsigned seed)
      : dice_(seed), queue_(*element_queue::make(draw_options(seed))) {}

  void run(int requests) {
    for (int i = 0; i < requests; ++i) {
      act(static_cast<uint64_t>(i), i > requests / 2);
      read_answers();
      REQUIRE(queue_->size() == static_cast<int64_t>(books_.in.size()));
    }
  }

private:
  int below(int bound) { return static_cast<int>(dice_() % static_cast<unsigned>(bound)); }

  queue_options draw_options(unsigned seed) {
    order_ = static_cast<queue_order>(below(3));
    auto capacity = below(2) == 0 ? -1 : 3 + below(6);
    queue_options options{
        .name = "q", .capacity = capacity, .types = {dtype::i32}, .order = order_};
    if (order_ == queue_order::by_priority)
      options.types.insert(options.types.begin(), dtype::i64);
    if (order_ == queue_order::shuffled)
      options.min_after_dequeue = below(3);
    options.seed = seed;
    return options;
  }

  void act(uint64_t id, bool may_close) {
    if (running_.size() < 6)
      running_.push_back(++steps_);
    auto step = running_[static_cast<size_t>(below(static_cast<int>(running_.size())))];
    auto event = below(100);
    if (event < 45) {
      puts_[id] = {next_value_};
      queue_->enqueue({{0, step}, id}, of_value(order_, next_value_++), done_);
    } else if (event < 80) {
      auto count = 1 + below(3);
      auto is_batch = count > 1 || below(2) == 0;
      queue_->dequeue({{0, step}, id},
                      {.count = count, .as_batch = is_batch, .up_to = is_batch && below(2) == 0},
                      done_);
    } else if (event < 98) {
      end_step(step, below(2) == 0);
    } else if (!closed_ && may_close) {
      closed_ = true;
      queue_->close(below(2) == 0, done_);
    }
  }

  void end_step(uint64_t step, bool failed) {
    if (failed)
      queue_->cancel(step_id{0, step}, stopped, done_);
    read_answers();
    // Returned elements may be taken again in the same call.
    if (failed)
      for (auto value : books_.held_values[step])
        books_.in.emplace(value, value % 7);
    else
      books_.spent += books_.held_values[step].size();
    books_.held_values.erase(step);
    queue_->cancel(step_id{0, step}, stopped, done_); // it has no further requests
    queue_->end_step({0, step}, failed, done_);
    std::erase(running_, step);
  }

  // Enters the answers since the last call.
  void read_answers() {
    for (; read_ < done_.size(); ++read_) {
      auto& answered = done_[read_];
      if (auto put = puts_.find(answered.id.number); put != puts_.end() && answered.outcome.ok()) {
        for (auto value : put->second)
          REQUIRE(books_.in.emplace(value, value % 7).second);
      } else if (!answered.tensors.empty()) {
        for (auto value : answered.tensors.back().values<int>())
          take(value, answered.id.step.sequence);
      }
      answered.tensors.clear();
    }
  }

  void take(int value, uint64_t step) {
    auto position = books_.in.find(value);
    REQUIRE(position != books_.in.end()); // neither invented nor returned twice
    if (order_ == queue_order::fifo)
      REQUIRE(position == books_.in.begin());
    if (order_ == queue_order::by_priority) {
      for (auto& [other_value, priority] : books_.in)
        REQUIRE((priority > position->second ||
                 (priority == position->second && other_value >= value)));
    }
    books_.in.erase(position);
    books_.held_values[step].push_back(value);
  }

  std::mt19937 dice_;
  queue_order order_ = queue_order::fifo;
  std::unique_ptr<element_queue> queue_;
  books books_;
  answers done_;
  size_t read_ = 0;
  std::map<uint64_t, std::vector<int>> puts_; // values that an enqueue would put in
  bool closed_ = false;
  int next_value_ = 0;
  uint64_t steps_ = 0;
  std::vector<uint64_t> running_;
};

void check_random_requests(unsigned seed, int requests) {
  INFO("seed " << seed);
  random_queue_requests{seed}.run(requests);
}

} // namespace

TEST_CASE("a queue of any kind loses no element, whichever steps fail") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round)
    check_random_requests(base + round, 200);
}

TEST_CASE("a queue of any kind loses no element through a million requests", "[slow]") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 2000; ++round)
    check_random_requests(base + round, 500);
}

} // namespace troupe::test::element_queue_random_test
