#include "tests/support/catch.hpp"
#include "troupe/runtime/state/variable.hpp"

#include <thread>

namespace troupe::test::variable_test {

namespace {

tensor block(int64_t value) { return tensor::of<int64_t>({2}, {value, value}); }

int64_t first(const tensor& of) { return of.values<int64_t>()[0]; }

auto adding(int64_t delta) {
  return [delta](tensor& value) {
    for (auto& one : value.values<int64_t>())
      one += delta;
    return status{};
  };
}

variable counter() { return {"v", dtype::i64, {-1}}; }

} // namespace

TEST_CASE("a variable is uninitialised until it is assigned, and says so by name") {
  variable v{"w", dtype::i64, {-1}};
  CHECK_FALSE(v.initialized());
  auto text =
      "variable 'w' is uninitialised: run its initialiser, or restore it, before it is used";
  CHECK(v.read().status().message() == text);
  CHECK(v.read().status().kind() == error_kind::failed_precondition);
  CHECK(v.update(adding(1)).message() == text);
  CHECK(v.update_unlocked(adding(1)).message() == text);
  CHECK(v.assign(block(1)).ok());
  CHECK(v.initialized());
  v.clear();
  CHECK_FALSE(v.initialized());
}

TEST_CASE("a variable takes only what fits its type and what is known of its shape") {
  variable v{"w", dtype::i64, {-1, 2}};
  CHECK(v.assign(tensor::scalar(1.f)).message() == "variable 'w' holds i64, got f32");
  CHECK(v.assign(block(1)).message() == "variable 'w' has shape [?,2], got [2]");
  CHECK(v.assign(tensor{}).kind() == error_kind::invalid_argument);
  CHECK_FALSE(v.initialized());
  CHECK(v.assign(block(1).reshaped({1, 2})).ok());
}

TEST_CASE("what was read is a snapshot that no update changes") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  auto before = *v.read();
  CHECK(v.update(adding(10)).ok());
  CHECK(first(before) == 1);
  CHECK(first(*v.read()) == 11);
}

TEST_CASE("an update copies only while somebody still holds the old value") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  const void* at = v.read()->raw();
  CHECK(v.update(adding(1)).ok());
  CHECK(v.read()->raw() == at);
  auto held = *v.read();
  CHECK(v.update(adding(1)).ok());
  CHECK(v.read()->raw() != at);
}

TEST_CASE("the tensor that was assigned is never written to, in the racy way neither") {
  auto v = counter();
  auto mine = block(1);
  CHECK(v.assign(mine).ok());
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(v.update(adding(1)).ok());
  CHECK(first(mine) == 1);
  CHECK(first(*v.read()) == 4);
}

TEST_CASE("a racy update goes in place, over the eyes of readers") {
  auto v = counter();
  CHECK(v.assign(block(1)).ok());
  CHECK(v.update_unlocked(adding(1)).ok()); // the memory is the variable's own from now on
  auto watched = *v.read();
  CHECK(v.update_unlocked(adding(1)).ok());
  CHECK(first(watched) == 3);
  CHECK(v.update(adding(1)).ok()); // a locked one respects readers
  CHECK(first(watched) == 3);
}

TEST_CASE("a racy update inside another loses nothing") {
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
        auto seen = *v.read();
        torn += seen.values<int64_t>()[0] != seen.values<int64_t>()[1];
      }
    });
  }
  CHECK(torn == 0);
  CHECK(first(*v.read()) == 6000);
}

namespace {

result<std::shared_ptr<variable>> declare(container& in, const std::string& name, dtype type,
                                          const partial_shape& dims) {
  TROUPE_ASSIGN(auto found, in.find_or_add(std::make_shared<variable>(name, type, dims)));
  return std::static_pointer_cast<variable>(std::move(found));
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
  container all;
  auto v = *declare(all, "v", dtype::f32, {-1, 2});
  CHECK(*declare(all, "v", dtype::f32, {3, 2}) == v);
  CHECK(*declare(all, "u", dtype::f32, {3, 2}) != v);
  CHECK(all.size() == 2);
  CHECK(declare(all, "v", dtype::f64, {-1, 2}).status().message() ==
        "variable 'v' exists as f32[3,2], and is declared again as f64[?,2]");
  CHECK_FALSE(declare(all, "v", dtype::f32, {3}));
  CHECK(all.size() == 2);
}

TEST_CASE("a container that is cleared leaves its variables uninitialised, never silently zero") {
  container all;
  auto v = *declare(all, "v", dtype::i64, {});
  CHECK(v->assign(tensor::scalar<int64_t>(1)).ok());
  all.clear();
  CHECK(all.size() == 0);
  CHECK_FALSE(v->initialized());
  CHECK(v->assign(tensor::scalar<int64_t>(2)).ok()); // by a program that had found it before
  all.clear();
  CHECK_FALSE(v->initialized());
}

TEST_CASE("a variable that a program holds through a reset stays the one of its name") {
  container all;
  auto v = *declare(all, "v", dtype::i64, {});
  all.clear();
  CHECK(*declare(all, "v", dtype::i64, {}) == v);
  CHECK(all.size() == 1);
  all.clear();
  auto before = named_state::retirements();
  auto other = *declare(all, "v", dtype::f32, {}); // may be declared otherwise after a reset
  CHECK(other != v);
  CHECK(v->retired());
  CHECK_FALSE(other->retired());
  CHECK(named_state::retirements() == before + 1);
  CHECK_FALSE(declare(all, "v", dtype::i64, {}));
}

TEST_CASE("what a declaration adds to a variable's shape holds for all") {
  container all;
  auto v = *declare(all, "v", dtype::f32, {2, -1});
  REQUIRE(v->assign(*tensor::make(dtype::f32, {2, 5})));
  CHECK(declare(all, "v", dtype::f32, {2, 3}).status().message() ==
        "variable 'v' holds f32[2,5], and is declared again as f32[2,3]");
  REQUIRE(v->assign(*tensor::make(dtype::f32, {2, 3})));
  CHECK(*declare(all, "v", dtype::f32, {-1, 3}) == v);
  CHECK(v->dims() == partial_shape{2, 3});
  CHECK(v->assign(*tensor::make(dtype::f32, {2, 5})).message() ==
        "variable 'v' has shape [2,3], got [2,5]");
}

TEST_CASE("state of different kinds may have the same name in a container") {
  container all;
  auto v = *declare(all, "v", dtype::i64, {});
  auto other = std::make_shared<tally>("v");
  CHECK(*all.find_or_add(other) == other);
  CHECK(*all.find_or_add(std::make_shared<tally>("v")) == other);
  CHECK(*declare(all, "v", dtype::i64, {}) == v);
  CHECK(all.size() == 2);
  all.clear();
  CHECK(other->cleared == 1);
}

TEST_CASE("threads that ask for the same name get the same variable") {
  container all;
  std::vector<std::shared_ptr<variable>> found(3);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < found.size(); ++t)
      threads.emplace_back([&, t] { found[t] = *declare(all, "v", dtype::f32, {}); });
  }
  CHECK(found[0] == found[1]);
  CHECK(found[1] == found[2]);
}

TEST_CASE("a container is unused once it is cleared and no program holds what it held") {
  container all;
  CHECK(all.unused());
  auto held = *all.find_or_add(std::make_shared<variable>("v", dtype::f32, shape{}));
  CHECK(!all.unused());
  all.clear();
  CHECK(!all.unused()); // a program that comes later must find the same
  CHECK(*all.find_or_add(std::make_shared<variable>("v", dtype::f32, shape{})) == held);
  all.clear();
  held.reset();
  CHECK(all.unused());
}

} // namespace troupe::test::variable_test
