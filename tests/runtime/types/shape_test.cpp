#include "tests/support/catch.hpp"
#include "troupe/runtime/types/shape.hpp"

namespace troupe::test::shape_test {

namespace {

std::string made_text(std::vector<int64_t> extents) {
  auto outcome = shape::make(extents);
  return outcome ? concat(*outcome) : outcome.status().message();
}

std::string partly(std::vector<int64_t> extents) {
  auto outcome = partial_shape::make(extents);
  return outcome ? concat(*outcome) : outcome.status().message();
}

template <class T>
std::string shown(const result<T>& outcome) {
  return outcome ? concat(*outcome) : outcome.status().message();
}

const partial_shape any = partial_shape::unknown();

} // namespace

TEST_CASE("a shape knows its rank, extents and elements") {
  shape dims{2, 3, 4};
  CHECK(dims.rank() == 3);
  CHECK(dims[2] == 4);
  CHECK(dims.elements() == 24);
  CHECK(shape{}.elements() == 1);
  CHECK(shape{5, 0}.elements() == 0);
  CHECK(concat(dims) == "[2,3,4]");
  CHECK(concat(shape{}) == "[]");
  CHECK(dims == shape{2, 3, 4});
  CHECK_FALSE(dims == shape{2, 3});
  dims.set(0, 7);
  CHECK(dims != shape{2, 3, 4});
}

TEST_CASE("extents from outside are checked for sign, rank and overflow") {
  CHECK(made_text({2, 0, 3}) == "[2,0,3]");
  CHECK(made_text({-1}) == "extents must not be negative, got -1");
  CHECK(made_text(std::vector<int64_t>(8, 2)) == "[2,2,2,2,2,2,2,2]");
  CHECK(made_text(std::vector<int64_t>(9, 2)) == "a tensor has at most 8 axes, got 9");
  CHECK(made_text({int64_t{1} << 62}) == "[4611686018427387904]");
  auto too_many = "a tensor has at most 2^62 elements";
  CHECK(made_text({int64_t{1} << 31, int64_t{1} << 32}) == too_many);
  CHECK(made_text({INT64_MAX}) == too_many);
  CHECK(made_text({INT64_MAX, INT64_MAX, 0}) == too_many);
  CHECK(made_text({3037000500, 3037000500, 3037000500}) == too_many);
}

TEST_CASE("a partial shape may know nothing, its rank, or some extents") {
  CHECK(concat(any) == "[...]");
  CHECK(any.rank() == -1);
  CHECK_FALSE(any.fully_known());
  CHECK(any.elements() == -1);
  CHECK(concat(partial_shape::of_rank(2)) == "[?,?]");
  partial_shape rows{-1, 4};
  CHECK_FALSE(rows.fully_known());
  CHECK(rows.elements() == -1);
  rows.set(0, 2);
  CHECK(rows.fully_known());
  CHECK(rows.known() == shape{2, 4});
  CHECK(rows.elements() == 8);
  CHECK(partial_shape{shape{}}.fully_known());
  CHECK(partial_shape{shape{}} != any);
  CHECK(partly({-1, 2}) == "[?,2]");
  CHECK(partly({-2}) == "extents must be -1 (unknown) or more, got -2");
  CHECK(partly(std::vector<int64_t>(9, -1)) == "a tensor has at most 8 axes, got 9");
  CHECK(partly({INT64_MAX, -1, INT64_MAX}) == "a tensor has at most 2^62 elements");
}

TEST_CASE("merging joins what is known of two shapes, in both directions") {
  struct {
    partial_shape a, b;
    std::string joint;
  } table[] = {
      {any, any, "[...]"},          {any, {1, -1}, "[1,?]"},  {{-1, 2}, {3, -1}, "[3,2]"},
      {{-1, 0}, {-1, -1}, "[?,0]"}, {shape{}, shape{}, "[]"},
  };
  for (const auto& [a, b, joint] : table) {
    CHECK(shown(merge(a, b)) == joint);
    CHECK(shown(merge(b, a)) == joint);
    CHECK(a.compatible(b));
    CHECK(b.compatible(a));
  }
  CHECK(shown(merge({1, 2}, {1, 3})) == "shapes [1,2] and [1,3] differ");
  CHECK(shown(merge({-1}, {-1, -1})) == "shapes [?] and [?,?] differ");
  CHECK_FALSE(partial_shape{1}.compatible(shape{}));
}

TEST_CASE("broadcasting follows NumPy, as far as extents are known") {
  struct {
    partial_shape a, b;
    std::string joint;
  } table[] = {
      {shape{}, shape{}, "[]"},
      {shape{}, {2, 3}, "[2,3]"},
      {{3}, {2, 3}, "[2,3]"},
      {{2, 1}, {1, 3}, "[2,3]"},
      {{5, 1, 3}, {4, 1}, "[5,4,3]"},
      {{0}, {1}, "[0]"},
      {{2, 0}, {1, 1}, "[2,0]"},
      {any, {2}, "[...]"},
      {{-1}, {1}, "[?]"},
      {{-1}, {-1}, "[?]"},
      {{-1}, {5}, "[5]"},
      {{-1}, {0}, "[0]"},
      {{-1, 3}, {3}, "[?,3]"},
  };
  for (const auto& [a, b, joint] : table) {
    CHECK(shown(broadcast(a, b)) == joint);
    CHECK(shown(broadcast(b, a)) == joint);
    if (a.fully_known() && b.fully_known()) {
      CHECK(shown(broadcast(a.known(), b.known())) == joint);
      CHECK(shown(broadcast(b.known(), a.known())) == joint);
    }
  }
  auto message = "shapes [2,3] and [4,3] cannot be broadcast: 2 against 4 on axis 0";
  CHECK(shown(broadcast(partial_shape{2, 3}, partial_shape{4, 3})) == message);
  CHECK(shown(broadcast(shape{2, 3}, shape{4, 3})) == message);
  CHECK_FALSE(broadcast(shape{0}, shape{2}));
  CHECK_FALSE(broadcast(partial_shape{0}, partial_shape{2}));
}

TEST_CASE("a negative axis counts from the end") {
  CHECK(*resolve_axis(-1, 3) == 2);
  CHECK(*resolve_axis(2, 3) == 2);
  CHECK(*resolve_axis(-3, 3) == 0);
  CHECK(shown(resolve_axis(3, 3)) == "axis 3 is outside [-3, 3)");
  CHECK_FALSE(resolve_axis(-4, 3));
  CHECK_FALSE(resolve_axis(0, 0));
  CHECK_FALSE(resolve_axis(INT64_MIN, 3));
}

} // namespace troupe::test::shape_test
