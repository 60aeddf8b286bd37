#include "tests/support/catch.hpp"
#include "troupe/runtime/types/attr.hpp"

namespace troupe::test::attr_test {

TEST_CASE("an attribute has the kind of its value") {
  CHECK(attr_value{true}.kind() == attr_kind::boolean);
  CHECK(attr_value{1}.kind() == attr_kind::integer);
  CHECK(attr_value{uint8_t{1}}.kind() == attr_kind::integer);
  CHECK(attr_value{1.f}.kind() == attr_kind::real);
  CHECK(attr_value{"text"}.kind() == attr_kind::text);
  CHECK(attr_value{dtype::f32}.kind() == attr_kind::type);
  CHECK(attr_value{shape{1}}.kind() == attr_kind::shape);
  CHECK(attr_value{tensor::scalar(1)}.kind() == attr_kind::tensor);
  CHECK(attr_value{std::vector<int64_t>{1}}.kind() == attr_kind::integers);
  CHECK(attr_value{std::vector<double>{1}}.kind() == attr_kind::reals);
  CHECK(attr_value{std::vector<std::string>{"a"}}.kind() == attr_kind::texts);
  CHECK(attr_value{std::vector<dtype>{}}.kind() == attr_kind::types);
  CHECK(attr_value{std::vector<partial_shape>{}}.kind() == attr_kind::shapes);
  CHECK(attr_value{1}.get_if<double>() == nullptr);
  CHECK(*attr_value{1}.get_if<int64_t>() == 1);
}

TEST_CASE("attributes are equal when kind and content are; tensors element by element") {
  CHECK(attr_value{1} == attr_value{int64_t{1}});
  CHECK_FALSE(attr_value{1} == attr_value{1.0});
  CHECK_FALSE(attr_value{1} == attr_value{true});
  CHECK(attr_value{tensor::scalar(1)} == attr_value{tensor::scalar(1)});
  CHECK_FALSE(attr_value{tensor::scalar(1)} == attr_value{tensor::scalar(2)});
  CHECK_FALSE(attr_value{tensor::scalar(1)} == attr_value{1});
  CHECK_FALSE(attr_value{1} == attr_value{tensor::scalar(1)});
  CHECK(attr_value{std::vector<partial_shape>{{1, -1}}} ==
        attr_value{std::vector<partial_shape>{{1, -1}}});
}

TEST_CASE("attributes print as they are written, lists in brackets") {
  CHECK(concat(attr_value{true}) == "true");
  CHECK(concat(attr_value{-3}) == "-3");
  CHECK(concat(attr_value{0.5}) == "0.5");
  CHECK(concat(attr_value{"a b"}) == "\"a b\"");
  CHECK(concat(attr_value{dtype::bf16}) == "bf16");
  CHECK(concat(attr_value{partial_shape{-1, 2}}) == "[?,2]");
  CHECK(concat(attr_value{tensor::scalar(2)}) == "i32[] {2}");
  CHECK(concat(attr_value{std::vector<int64_t>{1, 2}}) == "[1, 2]");
  CHECK(concat(attr_value{std::vector<double>{}}) == "[]");
  CHECK(concat(attr_value{std::vector<std::string>{"a", "b"}}) == "[\"a\", \"b\"]");
  CHECK(concat(attr_value{std::vector<dtype>{dtype::f32, dtype::string}}) == "[f32, string]");
  CHECK(concat(attr_value{std::vector<partial_shape>{{1}, partial_shape{}}}) == "[[1], [...]]");
}

TEST_CASE("attributes are found by name") {
  attr_map attrs{{"axis", 2}, {"name", "x"}};
  CHECK(attr<int64_t>(attrs, "axis") == 2);
  CHECK(attr<std::string>(attrs, "name") == "x");
}

TEST_CASE("every kind of attribute has a name") {
  for (int i = 0; i < 12; ++i)
    CHECK_FALSE(to_string(static_cast<attr_kind>(i)).empty());
}

} // namespace troupe::test::attr_test
