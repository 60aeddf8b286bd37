// The saved state of queues, and their suspension.
#include "tests/support/catch.hpp"
#include "troupe/runtime/state/element_bytes.hpp"
#include "troupe/runtime/state/element_queue.hpp"

namespace troupe::test::queue_state_test {

using Catch::Matchers::Contains;

namespace {

// Elements of a number and a text.
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
  // All elements that a step can take, as "5 3 ".
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

TEST_CASE("a restored queue of any kind has the saved elements, in the same order") {
  for (auto order : {queue_order::fifo, queue_order::shuffled, queue_order::by_priority}) {
    books saved{order}, restored{order};
    for (int64_t number : {5, 1, 9, 3, 7, 2, 8})
      saved.put(number);
    saved.queue->dequeue(saved.next(), {}, saved.done);
    answers settled;
    saved.queue->end_step({1, 1}, false, settled);
    restored.put(77); // the restore drops it
    auto state = saved.queue->state();
    REQUIRE(state);
    REQUIRE(restored.queue->restore(*state, restored.done));
    CHECK(restored.queue->size() == 6);
    CHECK(*restored.queue->state() == *state);
    for (auto* queue_books : {&saved, &restored}) {
      queue_books->put(4);
      queue_books->queue->close(false, queue_books->done);
    }
    CHECK(restored.take_all() == saved.take_all());
    // Whether it is closed is part of the state.
    REQUIRE(restored.queue->restore(*saved.queue->state(), restored.done));
    CHECK(restored.queue->closed());
  }
}

TEST_CASE("elements taken by running steps are in the state of a queue, in their place") {
  books saved{queue_order::fifo}, restored{queue_order::fifo};
  for (int64_t number : {1, 2, 3})
    saved.put(number);
  saved.queue->dequeue(saved.next(8), {}, saved.done);
  CHECK(saved.queue->size() == 2);
  REQUIRE(restored.queue->restore(*saved.queue->state(), restored.done));
  CHECK(restored.take_all() == "1 2 3 ");
  // An element that a step had taken before does not return into the restored queue.
  REQUIRE(saved.queue->restore(*saved.queue->state(), saved.done));
  saved.queue->end_step({1, 8}, true, saved.done);
  CHECK(saved.take_all() == "1 2 3 ");
}

TEST_CASE("a waiting dequeue gets a restored element") {
  books saved{queue_order::fifo}, restored{queue_order::fifo};
  saved.put(6);
  restored.queue->dequeue(restored.next(), {}, restored.done);
  REQUIRE(restored.done.empty());
  REQUIRE(restored.queue->restore(*saved.queue->state(), restored.done));
  REQUIRE(restored.done.size() == 1);
  CHECK(*restored.done[0].tensors[0].data<int64_t>() == 6);
}

TEST_CASE("a restore replaces waiting enqueues, too") {
  books saved{queue_order::fifo, 2}, restored{queue_order::fifo, 2};
  for (int64_t number : {1, 2})
    saved.put(number);
  for (int64_t number : {3, 4, 5})
    restored.put(number);
  REQUIRE(restored.done.size() == 2); // the third enqueue waits
  REQUIRE(restored.queue->restore(*saved.queue->state(), restored.done));
  REQUIRE(restored.done.size() == 3);
  CHECK(restored.done[2].outcome);
  CHECK(restored.queue->waiting_enqueues() == 0);
  CHECK(restored.take_all() == "1 2 ");
}

TEST_CASE("an invalid state of a queue is refused, and changes nothing") {
  books saved{queue_order::by_priority}, restored{queue_order::by_priority};
  for (int64_t number : {1, 2, 3})
    saved.put(number);
  restored.put(4);
  auto state = *saved.queue->state();
  for (size_t size = 0; size < state.size(); ++size) {
    auto refusal = restored.queue->restore(state.substr(0, size), restored.done);
    CHECK(refusal.kind() == error_kind::invalid_argument);
    CHECK_THAT(refusal.message(), Contains("queue 'q'"));
  }
  CHECK(!restored.queue->restore(state + "x", restored.done));
  CHECK(restored.queue->size() == 1);
  auto numbers = *element_queue::make({.name = "other", .types = {dtype::i64}});
  CHECK(!numbers->restore(state, restored.done));
}

TEST_CASE("elements that are lists are not saved, and the error names the queue") {
  auto queue = *element_queue::make({.name = "lists", .types = {dtype::variant}});
  answers done;
  queue->enqueue({{1, 1}, 1}, {*tensor::make(dtype::variant, shape{})}, done);
  auto state = queue->state();
  CHECK(state.status().kind() == error_kind::unimplemented);
  CHECK_THAT(state.status().message(), Contains("queue 'lists'"));
}

TEST_CASE("requests of a suspended queue fail, and waiting ones proceed after its end") {
  books suspended{queue_order::fifo, 2};
  for (int64_t number : {1, 2, 3})
    suspended.put(number); // the third enqueue waits
  CHECK(suspended.queue->waiting_enqueues() == 1);
  suspended.done.clear();
  suspended.queue->suspend(true, suspended.done);
  REQUIRE(suspended.done.size() == 1);
  CHECK(suspended.done[0].outcome.ok());
  CHECK_THAT(suspended.queue->describe(), Contains("3 of 2 elements, suspended"));
  suspended.done.clear();
  suspended.put(4);
  suspended.queue->dequeue(suspended.next(), {}, suspended.done);
  REQUIRE(suspended.done.size() == 2);
  CHECK(suspended.done[0].outcome.ok());
  CHECK(suspended.done[1].outcome.kind() == error_kind::cancelled);
  suspended.done.clear();
  suspended.queue->suspend(false, suspended.done);
  CHECK(suspended.done.empty());
  suspended.put(5); // waits again
  CHECK(suspended.done.empty());
  CHECK(suspended.take_all() == "1 2 3 4 5 ");
}

TEST_CASE("a queue suspended by a lost client resumes when it is restored or reset") {
  for (auto resets : {false, true}) {
    books suspended{queue_order::fifo}, restored{queue_order::fifo};
    restored.put(7);
    suspended.queue->suspend(true, suspended.done);
    if (resets)
      suspended.queue->reset(failure(error_kind::cancelled, "reset"), suspended.done);
    else
      REQUIRE(suspended.queue->restore(*restored.queue->state(), suspended.done));
    suspended.done.clear();
    suspended.queue->dequeue(suspended.next(), {.count = 2, .as_batch = true}, suspended.done);
    CHECK(suspended.done.empty()); // the dequeue waits
  }
}

TEST_CASE("a waiting dequeue is cancelled when its queue is suspended") {
  books suspended{queue_order::fifo};
  suspended.queue->dequeue(suspended.next(), {.count = 2, .as_batch = true}, suspended.done);
  suspended.put(1);
  suspended.done.clear();
  suspended.queue->suspend(true, suspended.done);
  REQUIRE(suspended.done.size() == 1);
  CHECK(suspended.done[0].outcome.kind() == error_kind::cancelled);
  CHECK(suspended.queue->size() == 1);
}

TEST_CASE("tensors of all types survive encoding and decoding") {
  for (auto type : {dtype::boolean, dtype::i32, dtype::f64, dtype::c64, dtype::string}) {
    for (const auto& dims : {shape{}, shape{0, 3}, shape{2, 3}}) {
      auto filled = *tensor::make(type, dims);
      if (type == dtype::string) {
        for (auto& text : filled.values<std::string>())
          text = concat("text ", &text - filled.data<std::string>());
      } else if (filled.bytes() > 0) {
        std::memset(filled.raw(), 1, filled.bytes());
      }
      element_writer to;
      to.add(std::string_view{"before"});
      REQUIRE(to.add(filled));
      to.add(uint64_t{1} << 60);
      auto bytes = to.take();
      element_reader from{bytes};
      CHECK(from.text() == "before");
      auto read = from.read();
      REQUIRE(read);
      CHECK(identical(*read, filled));
      CHECK(from.number() == uint64_t{1} << 60);
      CHECK((from.bytes_left() == 0 && !from.number() && !from.text() && !from.read()));
    }
  }
}

} // namespace troupe::test::queue_state_test
