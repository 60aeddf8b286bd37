#include "tests/support/catch.hpp"
#include "troupe/runtime/state/staging_area.hpp"

namespace troupe::test::staging_area_test {

namespace {

request_id request_of(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

struct staging_fixture {
  std::unique_ptr<staging_area> tested;
  answers done;
  explicit staging_fixture(staging_options options)
      : tested(*staging_area::make(std::move(options))) {}
  // "3:[5 6]" for taken tuples, "2:ok" for other requests.
  std::string answered() {
    std::string text;
    for (const auto& reply : std::exchange(done, {})) {
      text += concat(text.empty() ? "" : " ", reply.id.number, ':');
      if (reply.tensors.empty()) {
        text += to_string(reply.outcome.kind());
        continue;
      }
      const char* between = "[";
      for (const auto& value : reply.tensors)
        text += concat(std::exchange(between, " "),
                       value.type() == dtype::i64 ? *value.data<int64_t>() : *value.data<int>());
      text += ']';
    }
    return text;
  }
};

} // namespace

TEST_CASE("a staging area returns tuples in order, and waits when it is full or empty") {
  staging_fixture t{{.name = "s", .capacity = 1}};
  t.tested->take(request_of(1), {}, t.done);
  t.tested->put(request_of(2), {tensor::scalar(5), tensor::scalar(6)}, t.done);
  t.tested->put(request_of(3), {tensor::scalar(7)}, t.done);
  t.tested->put(request_of(4), {tensor::scalar(8)}, t.done);
  CHECK(t.answered() == "2:ok 1:[5 6] 3:ok");
  t.tested->take(request_of(5), {.index = 0, .peek = true}, t.done);
  t.tested->take(request_of(6), {}, t.done);
  CHECK(t.answered() == "5:[7] 6:[7] 4:ok");
}

TEST_CASE("a staging area keeps its byte limit, and refuses a tuple that never fits") {
  staging_fixture t{{.name = "s", .memory_limit = 8}};
  t.tested->put(request_of(1), {tensor::vector<int>({1, 2, 3})}, t.done);
  t.tested->put(request_of(2), {tensor::scalar(1)}, t.done);
  t.tested->put(request_of(3), {tensor::scalar(2)}, t.done);
  t.tested->put(request_of(4), {tensor::scalar(3)}, t.done);
  CHECK(t.answered() == "1:resource_exhausted 2:ok 3:ok");
  t.tested->take(request_of(5), {}, t.done);
  CHECK(t.answered() == "5:[1] 4:ok");
}

TEST_CASE("the characters of strings count for the byte limit of a staging area") {
  auto text = tensor::scalar(std::string(1'000, 'x'));
  staging_fixture t{{.name = "s", .memory_limit = 1'500}};
  t.tested->put(request_of(1), {text}, t.done);
  t.tested->put(request_of(2), {text}, t.done);
  t.tested->put(request_of(3), {tensor::scalar(std::string(2'000, 'x'))}, t.done);
  CHECK(t.answered() == "1:ok 3:resource_exhausted"); // the second waits for space
  t.tested->clear(t.done);
  CHECK(t.answered() == "2:ok");
}

TEST_CASE("a tuple with a key is available once it has all components") {
  staging_fixture t{{.name = "s", .order = staging_order::by_key}};
  t.tested->take(request_of(1), {.key = 7}, t.done);
  t.tested->put(request_of(2), {.key = 7, .indices = {1}, .components = 2}, {tensor::scalar(20)},
                t.done);
  CHECK(t.tested->incomplete() == 1);
  t.tested->put(request_of(3), {.key = 7, .indices = {1}, .components = 2}, {tensor::scalar(20)},
                t.done);
  t.tested->put(request_of(4), {.key = 7, .indices = {0}, .components = 2}, {tensor::scalar(10)},
                t.done);
  CHECK(t.answered() == "2:ok 3:invalid_argument 4:ok 1:[10 20]");
}

TEST_CASE("a part of a tuple can be taken, once; who asks for a key that does not come holds up "
          "nobody") {
  staging_fixture t{{.name = "s", .order = staging_order::by_least_key}};
  t.tested->take(request_of(1, 10), {.key = 99}, t.done);
  auto put_part = [&](uint64_t request, int64_t key) {
    t.tested->put(
        request_of(request), {.key = key, .indices = {0, 1}, .components = 2},
        {tensor::scalar(static_cast<int>(key)), tensor::scalar(static_cast<int>(key) + 1)}, t.done);
  };
  put_part(2, 8);
  put_part(3, 3);
  t.tested->take(request_of(4), {.key = 8, .indices = {1}, .all_components = false}, t.done);
  t.tested->take(request_of(5), {.key = 8, .indices = {1}, .all_components = false}, t.done);
  t.tested->take(request_of(6), {.indices = {0}, .all_components = false, .with_key = true},
                 t.done);
  CHECK(t.answered() == "2:ok 3:ok 4:[9] 5:invalid_argument 6:[3 3]");
  t.tested->cancel(step_id{0, 10}, stopped, t.done);
  CHECK(t.answered() == "1:cancelled");
}

TEST_CASE("a failed step's tuples return to their place in the staging area") {
  staging_fixture t{{.name = "s"}};
  for (int i = 1; i <= 4; ++i)
    t.tested->put(request_of(static_cast<uint64_t>(i)), {tensor::scalar(i)}, t.done);
  t.tested->take(request_of(5, 20), {}, t.done);
  t.tested->take(request_of(6, 30), {}, t.done);
  t.tested->take(request_of(7, 20), {}, t.done);
  t.answered();
  t.tested->end_step({0, 30}, false, t.done);
  t.tested->end_step({0, 20}, true, t.done);
  for (uint64_t i = 8; i < 11; ++i)
    t.tested->take(request_of(i, 40), {}, t.done);
  CHECK(t.answered() == "8:[1] 9:[3] 10:[4]");
  staging_fixture by_key{{.name = "s", .order = staging_order::by_key}};
  by_key.tested->put(request_of(1), {.key = 7, .indices = {0, 1}, .components = 2},
                     {tensor::scalar(1), tensor::scalar(2)}, by_key.done);
  by_key.tested->take(request_of(2, 20), {.key = 7, .indices = {0}, .all_components = false},
                      by_key.done);
  by_key.tested->take(request_of(3, 30), {.key = 7, .indices = {1}, .all_components = false},
                      by_key.done);
  CHECK(by_key.tested->size() == 0);
  by_key.tested->end_step({0, 20}, true, by_key.done);
  by_key.tested->take(request_of(4), {.key = 7, .indices = {0}, .all_components = false},
                      by_key.done);
  CHECK(by_key.answered() == "1:ok 2:[1] 3:[2] 4:[1]");
}

TEST_CASE("a component that completes a tuple is not queued behind puts that wait for room") {
  staging_fixture t{{.name = "s", .order = staging_order::by_key, .capacity = 1}};
  auto put_part = [&](uint64_t request, int64_t key, int64_t component) {
    t.tested->put(request_of(request), {.key = key, .indices = {component}, .components = 2},
                  {tensor::scalar(static_cast<int>(component))}, t.done);
  };
  put_part(1, 1, 0);
  put_part(2, 2, 0);
  put_part(3, 1, 1);
  CHECK(t.answered() == "1:ok 3:ok");
  t.tested->take(request_of(4), {.key = 1}, t.done);
  CHECK(t.answered() == "4:[0 1] 2:ok");
}

TEST_CASE("a returned tuple is not lost if another with its key exists") {
  staging_fixture t{{.name = "s", .order = staging_order::by_key, .memory_limit = 100}};
  auto put_value = [&](uint64_t request, int value) {
    t.tested->put(request_of(request), {.key = 7, .indices = {0}}, {tensor::scalar(value)}, t.done);
  };
  put_value(1, 1);
  t.tested->take(request_of(2, 20), {.key = 7}, t.done);
  put_value(3, 2);
  t.tested->end_step({0, 20}, true, t.done);
  CHECK(t.tested->size() == 2);
  t.answered();
  t.tested->take(request_of(4, 30), {.key = 7}, t.done);
  t.tested->take(request_of(5, 30), {.key = 7}, t.done);
  auto answers = t.answered();
  CHECK((answers == "4:[1] 5:[2]" || answers == "4:[2] 5:[1]"));
  CHECK(t.tested->describe() == "0 tuples of 0 bytes");
  t.tested->clear(t.done);
  t.tested->end_step({0, 30}, true, t.done);
  CHECK(t.tested->size() == 0);
}

} // namespace troupe::test::staging_area_test
