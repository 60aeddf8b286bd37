#include "tests/support/catch.hpp"
#include "troupe/runtime/state/variable.hpp"

#include <thread>

namespace troupe::test::variable_test {

namespace {

tensor block(int64_t value) { return tensor::from_values<int64_t>({2}, {value, value}); }

int64_t first(const tensor& source) { return source.values<int64_t>()[0]; }

auto adding(int64_t delta) {
  return [delta](tensor& value) {
    for (auto& element : value.values<int64_t>())
      element += delta;
    return status{};
  };
}

variable counter() { return {"v", dtype::i64, {-1}}; }

} // namespace

TEST_CASE("a variable is uninitialized until it is assigned, and its error names it") {
  variable v{"w", dtype::i64, {-1}};
  CHECK_FALSE(v.initialized());
  auto text =
      "variable 'w' is uninitialized: run its initializer, or restore it, before it is used";
  CHECK(v.read().status().message() == text);
  CHECK(v.read().status().kind() == error_kind::failed_precondition);
  CHECK(v.update(adding(1)).message() == text);
  CHECK(v.update_unlocked(adding(1)).message() == text);
  CHECK(v.assign(block(1)).ok());
  CHECK(v.initialized());
  v.clear();
  CHECK_FALSE(v.initialized());
}

TEST_CASE("a variable accepts only values of its type and known shape") {
  variable v{"w", dtype::i64, {-1, 2}};
  CHECK(v.assign(tensor::scalar(1.f)).message() == "variable 'w' holds i64, got f32");
  CHECK(v.assign(block(1)).message() == "variable 'w' has shape [?,2], got [2]");
  CHECK(v.assign(tensor{}).kind() == error_kind::invalid_argument);
  CHECK_FALSE(v.initialized());
  CHECK(v.assign(block(1).reshaped({1, 2})).ok());
}

TEST_CASE("a value that was read is a snapshot that no update changes") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  auto old_value = *v.read();
  CHECK(v.update(adding(10)).ok());
  CHECK(first(old_value) == 1);
  CHECK(first(*v.read()) == 11);
}

TEST_CASE("an update copies only while the old value is still held") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  const void* at = v.read()->raw();
  CHECK(v.update(adding(1)).ok());
  CHECK(v.read()->raw() == at);
  auto snapshot = *v.read();
  CHECK(v.update(adding(1)).ok());
  CHECK(v.read()->raw() != at);
}

TEST_CASE("an assigned tensor is never written to, not even by unlocked updates") {
  auto v = counter();
  auto assigned = block(1);
  CHECK(v.assign(assigned).ok());
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(v.update(adding(1)).ok());
  CHECK(first(assigned) == 1);
  CHECK(first(*v.read()) == 4);
}

TEST_CASE("an unlocked update changes a value in place, even if it is held") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  CHECK(v.update_unlocked(adding(1)).ok()); // from now on only the variable holds the memory
  auto watched = *v.read();
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(first(watched) == 3);
  CHECK(v.update(adding(1)).ok()); // a locked update copies a held value
  CHECK(first(watched) == 3);
}

TEST_CASE("an unlocked update inside another loses nothing") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  auto outer = v.update_unlocked([&](tensor& value) {
    CHECK(v.update_unlocked(adding(100)).ok());
    return adding(1)(value);
  });
  CHECK(outer.ok());
  CHECK(first(*v.read()) == 102);
}

TEST_CASE("the error of an update's body is returned") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  auto fails = [](tensor&) { return invalid("no"); };
  CHECK(v.update(fails).message() == "no");
  CHECK(v.update_unlocked(fails).message() == "no");
}

TEST_CASE("updates from many threads all count, and readers see whole values") {
  auto v = counter();
  CHECK(v.assign(block(0)).ok());
  std::atomic<int> torn = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 3000; ++i)
          if (!v.update(adding(1)))
            ++torn;
      });
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        auto snapshot = *v.read();
        torn += snapshot.values<int64_t>()[0] != snapshot.values<int64_t>()[1];
      }
    });
  }
  CHECK(torn == 0);
  CHECK(first(*v.read()) == 6000);
}

namespace {

result<std::shared_ptr<variable>> declare(container& in, const std::string& name, dtype type,
                                          const partial_shape& dims) {
  TROUPE_ASSIGN(auto state, in.find_or_add(std::make_shared<variable>(name, type, dims)));
  return std::static_pointer_cast<variable>(std::move(state));
}

// State of another kind.
class tally final : public named_state {
public:
  using named_state::named_state;
  std::string_view kind() const noexcept override { return "counter"; }
  status declare_again(const named_state&) override { return {}; }
  result<tensor> read() const override { return invalid("counters have no value"); }
  void clear() override { ++cleared; }
  int cleared = 0;
};

} // namespace

TEST_CASE("a container gives one variable per name") {
  container states;
  auto v = *declare(states, "v", dtype::f32, {-1, 2});
  CHECK(*declare(states, "v", dtype::f32, {3, 2}) == v);
  CHECK(*declare(states, "u", dtype::f32, {3, 2}) != v);
  CHECK(states.size() == 2);
  CHECK(declare(states, "v", dtype::f64, {-1, 2}).status().message() ==
        "variable 'v' exists as f32[3,2], and is declared again as f64[?,2]");
  CHECK_FALSE(declare(states, "v", dtype::f32, {3}));
  CHECK(states.size() == 2);
}

TEST_CASE("a container that is cleared leaves its variables uninitialized, never silently zero") {
  container states;
  auto v = *declare(states, "v", dtype::i64, {});
  CHECK(v->assign(tensor::scalar<int64_t>(1)).ok());
  states.clear();
  CHECK(states.size() == 0);
  CHECK_FALSE(v->initialized());
  CHECK(v->assign(tensor::scalar<int64_t>(2)).ok()); // by a program that already holds the variable
  states.clear();
  CHECK_FALSE(v->initialized());
}

TEST_CASE("a variable that a program holds through a reset keeps its name") {
  container states;
  auto v = *declare(states, "v", dtype::i64, {});
  states.clear();
  CHECK(*declare(states, "v", dtype::i64, {}) == v);
  CHECK(states.size() == 1);
  states.clear();
  auto retired_before = named_state::retirement_count();
  auto redeclared =
      *declare(states, "v", dtype::f32, {}); // may be declared otherwise after a reset
  CHECK(redeclared != v);
  CHECK(v->retired());
  CHECK_FALSE(redeclared->retired());
  CHECK(named_state::retirement_count() == retired_before + 1);
  CHECK_FALSE(declare(states, "v", dtype::i64, {}));
}

TEST_CASE("a declaration's knowledge of a variable's shape applies to all users") {
  container states;
  auto v = *declare(states, "v", dtype::f32, {2, -1});
  REQUIRE(v->assign(*tensor::make(dtype::f32, {2, 5})));
  CHECK(declare(states, "v", dtype::f32, {2, 3}).status().message() ==
        "variable 'v' holds f32[2,5], and is declared again as f32[2,3]");
  REQUIRE(v->assign(*tensor::make(dtype::f32, {2, 3})));
  CHECK(*declare(states, "v", dtype::f32, {-1, 3}) == v);
  CHECK(v->dims() == partial_shape{2, 3});
  CHECK(v->assign(*tensor::make(dtype::f32, {2, 5})).message() ==
        "variable 'v' has shape [2,3], got [2,5]");
}

TEST_CASE("state of different kinds may have the same name in a container") {
  container states;
  auto v = *declare(states, "v", dtype::i64, {});
  auto other_state = std::make_shared<tally>("v");
  CHECK(*states.find_or_add(other_state) == other_state);
  CHECK(*states.find_or_add(std::make_shared<tally>("v")) == other_state);
  CHECK(*declare(states, "v", dtype::i64, {}) == v);
  CHECK(states.size() == 2);
  states.clear();
  CHECK(other_state->cleared == 1);
}

TEST_CASE("threads that look up the same name get the same variable") {
  container states;
  std::vector<std::shared_ptr<variable>> variables(3);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < variables.size(); ++t)
      threads.emplace_back([&, t] { variables[t] = *declare(states, "v", dtype::f32, {}); });
  }
  CHECK(variables[0] == variables[1]);
  CHECK(variables[1] == variables[2]);
}

TEST_CASE("a container is unused once it is cleared and no program holds its state") {
  container states;
  CHECK(states.unused());
  auto held_variable = *states.find_or_add(std::make_shared<variable>("v", dtype::f32, shape{}));
  CHECK(!states.unused());
  states.clear();
  CHECK(!states.unused()); // a later program must find the same state
  CHECK(*states.find_or_add(std::make_shared<variable>("v", dtype::f32, shape{})) == held_variable);
  states.clear();
  held_variable.reset();
  CHECK(states.unused());
}

} // namespace troupe::test::variable_test
