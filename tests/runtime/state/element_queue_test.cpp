#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_queue.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace troupe::test::element_queue_test {

namespace {

// Makes tests readable: requests are numbered, answers are collected.
struct queue_fixture {
  explicit queue_fixture(queue_options options)
      : owned_queue(*element_queue::make(std::move(options))), queue(*owned_queue) {}
  queue_fixture(int64_t capacity)
      : queue_fixture({.name = "q", .capacity = capacity, .types = {dtype::i32}}) {}

  void put(uint64_t request, int value, uint64_t step = 1) {
    queue.enqueue({{0, step}, request}, {tensor::scalar(value)}, done);
  }
  void put_many(uint64_t request, const std::vector<int>& values, uint64_t step = 1) {
    queue.enqueue_many({{0, step}, request}, {tensor::vector(values)}, done);
  }
  void take(uint64_t request, uint64_t step = 2) { queue.dequeue({{0, step}, request}, {}, done); }
  void take_many(uint64_t request, int64_t count, uint64_t step = 2) {
    queue.dequeue({{0, step}, request}, {.count = count, .as_batch = true}, done);
  }
  // The answers since the last call: "3:ok 4:[1 2] 5:cancelled".
  std::string answers() {
    std::ostringstream out;
    for (const auto& answered : std::exchange(done, {})) {
      out << (out.tellp() ? " " : "") << answered.id.number << ':';
      last = answered.outcome;
      if (!answered.outcome || answered.tensors.empty()) {
        out << to_string(answered.outcome.kind());
        continue;
      }
      const char* between = "[";
      for (auto value : answered.tensors[0].values<int>())
        out << std::exchange(between, " ") << value;
      out << ']';
    }
    return out.str();
  }

  std::unique_ptr<element_queue> owned_queue;
  element_queue& queue;
  troupe::answers done;
  status last; // the outcome of the latest answer
};

const status stopped = failure(error_kind::cancelled, "the step was stopped");

} // namespace

TEST_CASE("a queue returns elements in insertion order") {
  queue_fixture t{10};
  t.put(1, 5);
  t.put_many(2, {6, 7});
  CHECK(t.answers() == "1:ok 2:ok");
  CHECK(t.queue.size() == 3);
  t.take(3);
  t.take_many(4, 2);
  CHECK(t.answers() == "3:[5] 4:[6 7]");
  CHECK(t.queue.size() == 0);
}

TEST_CASE(
    "what a step has taken goes back to the front if it fails, and is spent if it ends well") {
  queue_fixture t{10};
  t.put_many(1, {5, 6, 7, 8, 9});
  t.take(2, 20);
  t.take_many(3, 2, 20);
  t.take(4, 30);
  CHECK(t.answers() == "1:ok 2:[5] 3:[6 7] 4:[8]");
  t.queue.end_step({0, 30}, false, t.done);
  t.queue.end_step({0, 20}, true, t.done);
  t.queue.end_step({0, 20}, true, t.done); // the second time has no effect
  t.queue.end_step({0, 30}, true, t.done); // it has already succeeded
  CHECK(t.queue.size() == 4);
  t.take_many(5, 4, 40);
  CHECK(t.answers() == "5:[5 6 7 9]");
  t.take(6, 50); // a waiting take gets the returned elements
  t.queue.end_step({0, 40}, true, t.done);
  CHECK(t.answers() == "6:[5]");
}

TEST_CASE("an element that is dropped if its step fails does not return") {
  queue_fixture t{10};
  t.put(1, 5);
  t.queue.dequeue({{0, 20}, 2}, {.return_on_failure = false}, t.done);
  t.queue.end_step({0, 20}, true, t.done);
  CHECK(t.queue.size() == 0);
}

TEST_CASE("returned elements may exceed the capacity") {
  queue_fixture t{1};
  t.put(1, 5);
  t.take(2, 20);
  t.put(3, 6);
  t.queue.end_step({0, 20}, true, t.done);
  t.put(4, 7);
  CHECK(t.answers() == "1:ok 2:[5] 3:ok");
  CHECK(t.queue.size() == 2);
  t.take_many(5, 2, 30);
  CHECK(t.answers() == "5:[5 6] 4:ok");
}

TEST_CASE("a reset cancels waiting requests, drops the elements, and reopens the queue") {
  queue_fixture t{1};
  t.put(1, 5);
  t.put(2, 6);
  t.queue.reset(failure(error_kind::cancelled, "reset"), t.done);
  CHECK(t.answers() == "1:ok 2:cancelled");
  CHECK(t.queue.size() == 0);
  t.take(3);
  t.queue.reset(failure(error_kind::cancelled, "reset"), t.done);
  CHECK(t.answers() == "3:cancelled");
  t.queue.close(false, t.done);
  t.queue.reset(failure(error_kind::cancelled, "reset"), t.done);
  t.put(4, 7);
  CHECK(t.answers() == "4:ok");
}

TEST_CASE("dequeues wait for elements and enqueues for room, in separate queues") {
  queue_fixture t{1};
  t.take(1);
  t.take(2);
  CHECK(t.answers() == "");
  t.put(3, 30);
  CHECK(t.answers() == "3:ok 1:[30]");
  t.put(4, 40);
  CHECK(t.answers() == "4:ok 2:[40]");
  t.put(5, 50);
  t.put(6, 60);
  t.put(7, 70);
  CHECK(t.answers() == "5:ok");
  CHECK(t.queue.waiting_enqueues() == 2);
  t.take(8);
  CHECK(t.answers() == "8:[50] 6:ok");
  t.take(9);
  t.take(10);
  CHECK(t.answers() == "9:[60] 7:ok 10:[70]");
}

TEST_CASE("a small dequeue does not overtake a large one that waits") {
  queue_fixture t{10};
  t.take_many(1, 3);
  t.take(2);
  t.put_many(3, {1, 2});
  CHECK(t.answers() == "3:ok");
  t.put_many(4, {3, 4});
  CHECK(t.answers() == "4:ok 1:[1 2 3] 2:[4]");
}

TEST_CASE("a batch larger than the capacity passes in both directions") {
  queue_fixture t{2};
  t.put_many(1, {1, 2, 3, 4, 5});
  CHECK(t.answers() == "");
  CHECK(t.queue.size() == 2);
  t.take_many(2, 4);
  CHECK(t.answers() == "2:[1 2 3 4] 1:ok");
  t.take_many(3, 4);
  t.put_many(4, {6, 7, 8});
  CHECK(t.answers() == "4:ok 3:[5 6 7 8]");
}

TEST_CASE("a queue of capacity 0 passes elements directly to waiting dequeues") {
  queue_fixture t{0};
  t.put(1, 1);
  CHECK(t.answers() == "");
  t.take(2);
  CHECK(t.answers() == "1:ok 2:[1]");
}

TEST_CASE("a cancelled dequeue_many leaves the queue unchanged") {
  queue_fixture t{3};
  t.put_many(1, {1, 2, 3});
  t.take_many(2, 5, 7);
  t.put(3, 4);
  CHECK(t.answers() == "1:ok 3:ok");
  SECTION("with its step") {
    t.queue.cancel(step_id{0, 7}, stopped, t.done);
    CHECK(t.answers() == "2:cancelled");
  }
  SECTION("alone, at its timeout") {
    t.queue.cancel(request_id{{0, 7}, 2}, failure(error_kind::deadline_exceeded, "late"), t.done);
    CHECK(t.answers() == "2:deadline_exceeded");
  }
  CHECK(t.queue.size() == 4);
  t.put(4, 5);
  CHECK(t.answers() == ""); // the queue is full again
  t.take_many(5, 5);
  CHECK(t.answers() == "4:ok 5:[1 2 3 4 5]");
}

TEST_CASE("cancelling the first waiting request lets the others proceed") {
  queue_fixture t{10};
  t.put(1, 1);
  t.take_many(2, 3, 7);
  t.take(3, 8);
  CHECK(t.answers() == "1:ok");
  t.queue.cancel(step_id{0, 7}, stopped, t.done);
  CHECK(t.answers() == "2:cancelled 3:[1]");
  t.queue.cancel(step_id{0, 99}, stopped, t.done);
  t.queue.cancel(request_id{{0, 8}, 3}, stopped, t.done);
  CHECK(t.answers() == "");
}

TEST_CASE("a closed queue returns its elements and then reports the end of the data") {
  queue_fixture t{10};
  t.put_many(1, {1, 2, 3});
  t.queue.close(false, t.done);
  CHECK(t.queue.closed());
  CHECK(t.answers() == "1:ok");
  t.take_many(2, 4);
  CHECK(t.answers() == "2:out_of_range");
  CHECK(t.last.message() == "queue 'q' is closed and has too few elements (wanted 4, has 3)");
  t.take_many(3, 3);
  t.take(4);
  CHECK(t.answers() == "3:[1 2 3] 4:out_of_range");
  t.queue.close(true, t.done);
  CHECK(t.answers() == "");
}

TEST_CASE("closing wakes the dequeues that cannot be served any more, and only those") {
  queue_fixture t{10};
  t.put_many(1, {1, 2});
  t.take_many(2, 3);
  t.take(3);
  t.take(4);
  t.take(5);
  CHECK(t.answers() == "1:ok");
  t.queue.close(false, t.done);
  CHECK(t.answers() == "2:out_of_range 3:[1] 4:[2] 5:out_of_range");
}

TEST_CASE("a closed queue refuses new elements, and completes waiting enqueues") {
  queue_fixture t{1};
  t.put_many(1, {1, 2, 3});
  t.put(2, 4);
  t.queue.close(false, t.done);
  t.put(3, 5);
  t.put_many(4, {6});
  CHECK(t.answers() == "3:cancelled 4:cancelled");
  CHECK(t.last.message() == "queue 'q' is closed");
  t.take_many(5, 3);
  t.take(6);
  t.take(7);
  CHECK(t.answers() == "1:ok 5:[1 2 3] 2:ok 6:[4] 7:out_of_range");
}

TEST_CASE("closing can cancel waiting enqueues; the elements stay") {
  queue_fixture t{1};
  t.put_many(1, {1, 2, 3});
  t.put(2, 4);
  t.queue.close(true, t.done);
  CHECK(t.answers() == "1:cancelled 2:cancelled");
  t.take(3);
  t.take(4);
  CHECK(t.answers() == "3:[1] 4:out_of_range");
}

TEST_CASE("an invalid element is refused, naming queue and component") {
  queue_fixture t{
      {.name = "pairs", .types = {dtype::i32, dtype::f32}, .shapes = {shape{}, {-1, 2}}}};
  auto refused = [&](std::vector<tensor> components, bool is_batch = false) {
    if (is_batch)
      t.queue.enqueue_many({{0, 1}, 1}, std::move(components), t.done);
    else
      t.queue.enqueue({{0, 1}, 1}, std::move(components), t.done);
    REQUIRE(t.answers() == "1:invalid_argument");
    return t.last.message();
  };
  auto number = tensor::scalar(1);
  auto rows = tensor::from_values<float>({1, 2}, {1, 2});
  CHECK(refused({number}) == "queue 'pairs': takes 2 components, got 1");
  CHECK(refused({number, number}) == "queue 'pairs': component 1 must be f32, got i32");
  CHECK(refused({number, tensor::from_values<float>({2}, {1, 2})}) ==
        "queue 'pairs': component 1 must have shape [?,2], got [2]");
  CHECK(refused({number, rows}, true) ==
        "queue 'pairs': component 0 of a batch must have a first axis, got shape []");
  CHECK(refused({tensor::vector<int>({1, 2}), tensor::from_values<float>({1, 1, 2}, {1, 2})},
                true) == "queue 'pairs': component 1 has 1 elements, component 0 has 2");
  t.queue.enqueue({{0, 1}, 2}, {number, rows}, t.done);
  CHECK(t.answers() == "2:ok");
  CHECK(element_queue::make({.name = "x"}).status().message() ==
        "queue 'x': an element needs at least one component");
  CHECK(element_queue::make({.name = "x", .types = {dtype::i32}, .shapes = {shape{}, shape{}}})
            .status()
            .message() == "queue 'x': has 1 component types, but 2 shapes");
}

TEST_CASE("elements of different shapes are dequeued one by one, but not as a batch") {
  queue_fixture t{{.name = "q", .types = {dtype::i32}, .shapes = {{-1}}}};
  t.put_many(1, {});
  CHECK(t.last.ok());
  t.done.clear();
  t.queue.enqueue({{0, 1}, 2}, {tensor::vector<int>({1, 2})}, t.done);
  t.queue.enqueue({{0, 1}, 3}, {tensor::vector<int>({3})}, t.done);
  CHECK(t.answers() == "2:ok 3:ok");
  t.take_many(4, 2);
  CHECK(t.answers() == "4:invalid_argument");
  CHECK(t.last.message() ==
        "queue 'q': component 0: elements of shapes [2] and [1] do not fit into one "
        "batch");
  t.take_many(5, 1);
  CHECK(t.done.at(0).tensors.at(0).dims() == shape{1, 2});
  CHECK(t.answers() == "5:[1 2]");
  t.take(6);
  CHECK(t.answers() == "6:[3]");
  t.take_many(7, 0);
  t.take_many(8, -1);
  CHECK(t.answers() == "7:invalid_argument 8:invalid_argument");
}

TEST_CASE("batches of several components, strings and empty elements are split and joined") {
  queue_fixture t{{.name = "q",
                   .types = {dtype::string, dtype::f64, dtype::u8},
                   .shapes = {{2}, {0}, shape{}}}};
  auto words =
      tensor::from_values<std::string>({2, 2}, {"a", "b", "a word beyond the small buffer", "d"});
  auto nothing = *tensor::make(dtype::f64, {2, 0});
  auto bytes = tensor::vector<uint8_t>({8, 9});
  t.queue.enqueue_many({{0, 1}, 1}, {words, nothing, bytes}, t.done);
  t.queue.dequeue({{0, 1}, 2}, {.count = 2, .as_batch = true}, t.done);
  REQUIRE(t.done.size() == 2);
  REQUIRE(t.done[1].outcome.ok());
  CHECK(identical(t.done[1].tensors[0], words));
  CHECK(identical(t.done[1].tensors[1], nothing));
  CHECK(identical(t.done[1].tensors[2], bytes));
  t.queue.dequeue({{0, 1}, 3}, {.count = 0, .as_batch = true}, t.done); // never waits
  REQUIRE(t.done.size() == 3);
  CHECK(t.done[2].tensors.at(0).dims() == shape{0, 2});
}

TEST_CASE("a queue without memory for a batch fails the dequeue and keeps its elements") {
  struct failing_allocator final : allocator {
    void* allocate(size_t) noexcept override { return nullptr; }
    void deallocate(void*, size_t) noexcept override {}
  } none;
  auto owned_queue = *element_queue::make({.name = "q", .types = {dtype::i32}}, none);
  auto& queue = *owned_queue;
  answers done;
  queue.enqueue({{0, 1}, 1}, {tensor::scalar(1)}, done);
  queue.enqueue_many({{0, 1}, 2}, {tensor::vector<int>({2, 3})}, done);
  queue.dequeue({{0, 1}, 3}, {.count = 1, .as_batch = true}, done);
  queue.dequeue({{0, 1}, 4}, {}, done);
  REQUIRE(done.size() == 4);
  CHECK(done[1].outcome.kind() == error_kind::resource_exhausted);
  CHECK(done[2].outcome.kind() == error_kind::resource_exhausted);
  CHECK(done[3].tensors.at(0).values<int>()[0] == 1);
}

TEST_CASE("a taken batch, and a taken element that does not return, are not held by the queue") {
  queue_fixture t{10};
  t.put_many(1, {1, 2, 3});
  t.take_many(2, 2);
  CHECK(t.done.at(1).tensors.at(0).unique());
  t.queue.dequeue({{0, 1}, 3}, {.return_on_failure = false}, t.done);
  CHECK(t.done.at(2).tensors.at(0).unique());
}

TEST_CASE("a shuffling queue keeps some elements until it is closed, and returns each once") {
  queue_fixture t{{.name = "q",
                   .capacity = 8,
                   .types = {dtype::i32},
                   .order = queue_order::shuffled,
                   .min_after_dequeue = 2,
                   .seed = 3}};
  t.put_many(1, {1, 2, 3, 4});
  t.take(2);
  t.take(3);
  t.take(4);
  t.answers();
  CHECK(t.queue.size() == 2);
  t.take_many(5, 2, 30);
  CHECK(t.answers()
            .empty()); // waits like the previous one: either would take elements that must stay
  t.queue.close(false, t.done);
  CHECK(t.queue.size() == 1);
  CHECK(t.done.size() == 2);
  CHECK(t.done.back().outcome.kind() == error_kind::out_of_range);
}

TEST_CASE("shuffled elements come in random order, which the seed determines") {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::string twice[2];
    for (auto& once : twice) {
      queue_fixture t{
          {.name = "q", .types = {dtype::i32}, .order = queue_order::shuffled, .seed = seed}};
      t.put_many(1, {1, 2, 3});
      t.take_many(2, 3);
      once = t.answers();
    }
    CHECK(twice[0] == twice[1]);
    orders.insert(twice[0]);
  }
  CHECK(orders.size() == 6);
}

TEST_CASE("a priority queue returns the lowest number first, and equal ones in insertion order") {
  auto owned_queue = *element_queue::make(
      {.name = "q", .types = {dtype::i64, dtype::i32}, .order = queue_order::by_priority});
  answers done;
  owned_queue->enqueue_many(
      {{0, 1}, 1}, {tensor::vector<int64_t>({3, 1, 3, 1}), tensor::vector<int>({30, 10, 31, 11})},
      done);
  owned_queue->dequeue({{0, 2}, 2}, {}, done);
  owned_queue->end_step({0, 2}, true, done);
  owned_queue->dequeue({{0, 3}, 3}, {.count = 4, .as_batch = true}, done);
  REQUIRE(done.size() == 3);
  CHECK(*done[1].tensors.at(1).data<int>() == 10);
  CHECK(std::ranges::equal(done[2].tensors.at(1).values<int>(), std::vector{10, 11, 30, 31}));
}

TEST_CASE("a padding queue pads the elements of a batch with zeros") {
  auto owned_queue = *element_queue::make({.name = "q",
                                           .types = {dtype::i32, dtype::string},
                                           .shapes = {partial_shape{unknown_extent, 2}, shape{}},
                                           .pads = true});
  answers done;
  owned_queue->enqueue(
      {{0, 1}, 1},
      {tensor::from_values<int>(shape{1, 2}, {1, 2}), tensor::scalar<std::string>("a")}, done);
  owned_queue->enqueue(
      {{0, 1}, 2},
      {tensor::from_values<int>(shape{2, 2}, {3, 4, 5, 6}), tensor::scalar<std::string>("b")},
      done);
  owned_queue->enqueue(
      {{0, 1}, 3}, {tensor::from_values<int>(shape{0, 2}, {}), tensor::scalar<std::string>("c")},
      done);
  owned_queue->dequeue({{0, 2}, 4}, {.count = 3, .as_batch = true}, done);
  REQUIRE(done.size() == 4);
  const auto& batch = done[3].tensors.at(0);
  CHECK(batch.dims() == shape{3, 2, 2});
  CHECK(std::ranges::equal(batch.values<int>(), std::vector{1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0}));
  CHECK(done[3].tensors.at(1).values<std::string>()[2] == "c");
}

TEST_CASE("dequeue_up_to returns fewer elements once the queue is closed") {
  queue_fixture t{10};
  t.put_many(1, {1, 2, 3});
  auto take_up_to = [&](uint64_t request, int64_t count) {
    t.queue.dequeue({{0, 2}, request}, {.count = count, .as_batch = true, .up_to = true}, t.done);
  };
  take_up_to(2, 2);
  take_up_to(3, 2);
  take_up_to(4, 2);
  CHECK(t.answers() == "1:ok 2:[1 2]");
  t.queue.close(false, t.done);
  CHECK(t.answers() == "3:[3] 4:out_of_range");
}

} // namespace troupe::test::element_queue_test
