// What a queue holds as bytes, and what nothing waits for.
#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_bytes.hpp"
#include "troupe/runtime/state/element_queue.hpp"

namespace troupe::test::queue_state_test {

using Catch::Matchers::Contains;

namespace {

// A number and a text each.
struct books {
  explicit books(queue_order order, int64_t capacity = -1)
      : queue(*element_queue::make({.name = "q",
                                    .capacity = capacity,
                                    .types = {dtype::i64, dtype::string},
                                    .order = order,
                                    .min_after_dequeue = order == queue_order::shuffled ? 2 : 0,
                                    .seed = 7})) {}

  void put(int64_t number) {
    queue->enqueue(next(), {tensor::scalar(number), tensor::scalar(concat("text ", number))}, done);
  }
  request_id next(uint64_t step = 1) { return {{1, step}, ++requests}; }
  // All that a step can take, "5 3 ".
  std::string take_all(uint64_t step = 2) {
    std::string text;
    for (;;) {
      done.clear();
      queue->dequeue(next(step), {}, done);
      if (done.empty() || !done[0].outcome)
        return text;
      auto number = *done[0].tensors[0].data<int64_t>();
      CHECK(*done[0].tensors[1].data<std::string>() == concat("text ", number));
      text += concat(number, ' ');
    }
  }

  std::unique_ptr<element_queue> queue;
  answers done;
  uint64_t requests = 0;
};

} // namespace

TEST_CASE("a queue of any kind goes on with what another one held, in the same order") {
  for (auto order : {queue_order::fifo, queue_order::shuffled, queue_order::by_priority}) {
    books one{order}, other{order};
    for (int64_t number : {5, 1, 9, 3, 7, 2, 8})
      one.put(number);
    one.queue->dequeue(one.next(), {}, one.done);
    answers settled;
    one.queue->settle({1, 1}, false, settled);
    other.put(77); // is dropped
    auto state = one.queue->state();
    REQUIRE(state);
    REQUIRE(other.queue->restore(*state, other.done));
    CHECK(other.queue->size() == 6);
    CHECK(*other.queue->state() == *state);
    for (auto* each : {&one, &other}) {
      each->put(4);
      each->queue->close(false, each->done);
    }
    CHECK(other.take_all() == one.take_all());
    // That it is closed is part of it.
    REQUIRE(other.queue->restore(*one.queue->state(), other.done));
    CHECK(other.queue->closed());
  }
}

TEST_CASE("what running steps have taken is in the state of a queue, in its place") {
  books one{queue_order::fifo}, other{queue_order::fifo};
  for (int64_t number : {1, 2, 3})
    one.put(number);
  one.queue->dequeue(one.next(8), {}, one.done);
  CHECK(one.queue->size() == 2);
  REQUIRE(other.queue->restore(*one.queue->state(), other.done));
  CHECK(other.take_all() == "1 2 3 ");
  // What a step had taken before does not come back into what was restored.
  REQUIRE(one.queue->restore(*one.queue->state(), one.done));
  one.queue->settle({1, 8}, true, one.done);
  CHECK(one.take_all() == "1 2 3 ");
}

TEST_CASE("who waits for an element is given one that was restored") {
  books one{queue_order::fifo}, other{queue_order::fifo};
  one.put(6);
  other.queue->dequeue(other.next(), {}, other.done);
  REQUIRE(other.done.empty());
  REQUIRE(other.queue->restore(*one.queue->state(), other.done));
  REQUIRE(other.done.size() == 1);
  CHECK(*other.done[0].tensors[0].data<int64_t>() == 6);
}

TEST_CASE("what waits to be put in belongs to what a restore replaces") {
  books one{queue_order::fifo, 2}, other{queue_order::fifo, 2};
  for (int64_t number : {1, 2})
    one.put(number);
  for (int64_t number : {3, 4, 5})
    other.put(number);
  REQUIRE(other.done.size() == 2); // the third waits
  REQUIRE(other.queue->restore(*one.queue->state(), other.done));
  REQUIRE(other.done.size() == 3);
  CHECK(other.done[2].outcome);
  CHECK(other.queue->waiting_enqueues() == 0);
  CHECK(other.take_all() == "1 2 ");
}

TEST_CASE("what is no state of a queue is refused, and changes nothing") {
  books one{queue_order::by_priority}, other{queue_order::by_priority};
  for (int64_t number : {1, 2, 3})
    one.put(number);
  other.put(4);
  auto state = *one.queue->state();
  for (size_t size = 0; size < state.size(); ++size) {
    auto why = other.queue->restore(state.substr(0, size), other.done);
    CHECK(why.kind() == error_kind::invalid_argument);
    CHECK_THAT(why.message(), Contains("queue 'q'"));
  }
  CHECK(!other.queue->restore(state + "x", other.done));
  CHECK(other.queue->size() == 1);
  auto numbers = *element_queue::make({.name = "other", .types = {dtype::i64}});
  CHECK(!numbers->restore(state, other.done));
}

TEST_CASE("elements that are lists are not saved, and the error names the queue") {
  auto queue = *element_queue::make({.name = "lists", .types = {dtype::variant}});
  answers done;
  queue->enqueue({{1, 1}, 1}, {*tensor::make(dtype::variant, shape{})}, done);
  auto state = queue->state();
  CHECK(state.status().kind() == error_kind::unimplemented);
  CHECK_THAT(state.status().message(), Contains("queue 'lists'"));
}

TEST_CASE("nothing waits for a queue that is suspended, and all goes on when it ends") {
  books of{queue_order::fifo, 2};
  for (int64_t number : {1, 2, 3})
    of.put(number); // the third waits
  CHECK(of.queue->waiting_enqueues() == 1);
  of.done.clear();
  of.queue->suspend(true, of.done);
  REQUIRE(of.done.size() == 1);
  CHECK(of.done[0].outcome.ok());
  CHECK_THAT(of.queue->describe(), Contains("3 of 2 elements, suspended"));
  of.done.clear();
  of.put(4);
  of.queue->dequeue(of.next(), {}, of.done);
  REQUIRE(of.done.size() == 2);
  CHECK(of.done[0].outcome.ok());
  CHECK(of.done[1].outcome.kind() == error_kind::cancelled);
  of.done.clear();
  of.queue->suspend(false, of.done);
  CHECK(of.done.empty());
  of.put(5); // waits again
  CHECK(of.done.empty());
  CHECK(of.take_all() == "1 2 3 4 5 ");
}

TEST_CASE("a queue that was suspended by who is gone goes on when it is restored or reset") {
  for (auto resets : {false, true}) {
    books of{queue_order::fifo}, other{queue_order::fifo};
    other.put(7);
    of.queue->suspend(true, of.done);
    if (resets)
      of.queue->reset(failure(error_kind::cancelled, "reset"), of.done);
    else
      REQUIRE(of.queue->restore(*other.queue->state(), of.done));
    of.done.clear();
    of.queue->dequeue(of.next(), {.count = 2, .many = true}, of.done);
    CHECK(of.done.empty()); // it waits
  }
}

TEST_CASE("a dequeue that waits is given up when its queue is suspended") {
  books of{queue_order::fifo};
  of.queue->dequeue(of.next(), {.count = 2, .many = true}, of.done);
  of.put(1);
  of.done.clear();
  of.queue->suspend(true, of.done);
  REQUIRE(of.done.size() == 1);
  CHECK(of.done[0].outcome.kind() == error_kind::cancelled);
  CHECK(of.queue->size() == 1);
}

TEST_CASE("tensors of all types are the same when their bytes are read") {
  for (auto type : {dtype::boolean, dtype::i32, dtype::f64, dtype::c64, dtype::string}) {
    for (const auto& dims : {shape{}, shape{0, 3}, shape{2, 3}}) {
      auto made = *tensor::make(type, dims);
      if (type == dtype::string) {
        for (auto& text : made.values<std::string>())
          text = concat("text ", &text - made.data<std::string>());
      } else if (made.bytes() > 0) {
        std::memset(made.raw(), 1, made.bytes());
      }
      element_writer to;
      to.add(std::string_view{"before"});
      REQUIRE(to.add(made));
      to.add(uint64_t{1} << 60);
      auto bytes = to.take();
      element_reader from{bytes};
      CHECK(from.text() == "before");
      auto read = from.read();
      REQUIRE(read);
      CHECK(identical(*read, made));
      CHECK(from.number() == uint64_t{1} << 60);
      CHECK((from.left() == 0 && !from.number() && !from.text() && !from.read()));
    }
  }
}

} // namespace troupe::test::queue_state_test
