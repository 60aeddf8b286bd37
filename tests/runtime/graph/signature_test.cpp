#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/graph/signature.hpp"

namespace troupe::test::signature_test {

namespace {

constexpr std::string_view doc = "For tests.";
result<shapes> no_shapes(const infer_context&) { return shapes{}; }

constexpr op_def concat_op{.name = "Concat",
                           .doc = doc,
                           .inputs = {{"axis", "i32"}, {"values", "T", "N"}},
                           .outputs = {{"out", "T"}},
                           .attrs = {{"N", at_least{2}}, {"T", any_type}},
                           .infer = no_shapes};
constexpr op_def zip{.name = "Zip",
                     .doc = doc,
                     .inputs = {{"as", "T", "N"}, {"bs", "U", "N"}},
                     .outputs = {{"pairs", "T", "N"}},
                     .attrs = {{"N", at_least{0}}, {"T", floating}, {"U", integers}},
                     .infer = no_shapes};
constexpr op_def call{.name = "Call",
                      .doc = doc,
                      .inputs = {{"first", "f32"}, {"args", "Tin"}},
                      .outputs = {{"results", "Tout"}},
                      .attrs = {{"Tin", attr_kind::types}, {"Tout", attr_kind::types}},
                      .infer = no_shapes};
constexpr op_def options{.name = "Options",
                         .doc = doc,
                         .attrs = {{"flag", false},
                                   {"rate", 0.5},
                                   {"count", at_least{1}},
                                   {"label", "none"},
                                   {"dims", attr_kind::shape, true},
                                   {"sizes", attr_kind::integers, true},
                                   {"weights", attr_kind::reals, true},
                                   {"names", attr_kind::texts, true},
                                   {"dtype", floating, dtype::f32}},
                         .infer = no_shapes};
constexpr op_def two_open{.name = "TwoOpen",
                          .doc = doc,
                          .inputs = {{"as", "f32", "N"}, {"bs", "f32", "M"}},
                          .attrs = {{"N", attr_kind::integer}, {"M", attr_kind::integer}},
                          .infer = no_shapes};

struct world {
  graph in{ops()};
  edge f = constant(in, 1.f), g = constant(in, 2.f), d = constant(in, 3.0), i = constant(in, 4),
       s = constant(in, std::string{"s"});
};

attr_map matched(const op_def& op, const std::vector<edge>& inputs, attr_map attrs = {}) {
  auto signature = match_signature(op, inputs, std::move(attrs));
  if (!signature)
    FAIL(signature.status());
  return std::move(signature->attrs);
}

std::string refused(const op_def& op, const std::vector<edge>& inputs, attr_map attrs = {}) {
  auto signature = match_signature(op, inputs, std::move(attrs));
  REQUIRE_FALSE(signature);
  CHECK(signature.status().kind() == error_kind::invalid_argument);
  return signature.status().message();
}

} // namespace

TEST_CASE("types and counts follow from the inputs") {
  world w;
  auto signature = match_signature(concat_op, {w.i, w.f, w.g}, {});
  REQUIRE(signature);
  CHECK(attr<int64_t>(signature->attrs, "N") == 2);
  CHECK(attr<dtype>(signature->attrs, "T") == dtype::f32);
  CHECK(signature->output_types == std::vector{dtype::f32});
  CHECK(signature->input_ports.size() == 3);
  CHECK(signature->input_ports[2]->name == "values");
  CHECK(attr<dtype>(matched(concat_op, {w.i, w.s, w.s}), "T") == dtype::string);
}

TEST_CASE("ports that share a count share the inputs evenly") {
  world w;
  auto signature = match_signature(zip, {w.f, w.g, w.i, w.i}, {});
  REQUIRE(signature);
  CHECK(attr<int64_t>(signature->attrs, "N") == 2);
  CHECK(signature->output_types == std::vector{dtype::f32, dtype::f32});
  CHECK(refused(zip, {w.f, w.g, w.i}) == "takes the inputs (as..., bs...), got 3");
  CHECK(refused(zip, {w.f, w.g, w.i, w.i}, {{"N", 1}}) ==
        "input bs must be one of {u8, u16, u32, u64, i8, i16, i32, i64}, got f32 from 'Const_1'");
  CHECK(refused(zip, {w.f, w.i, w.i}, {{"N", 1}}) == "takes the inputs (as..., bs...), got 3");
  CHECK(refused(zip, {}) == "attribute T (type) is missing");
  CHECK(match_signature(zip, {}, {{"T", dtype::f32}, {"U", dtype::i32}}).ok());
}

TEST_CASE("a list of types takes the remaining inputs; the outputs' list must be given") {
  world w;
  auto signature =
      match_signature(call, {w.f, w.s, w.i}, {{"Tout", std::vector{dtype::u8, dtype::f64}}});
  REQUIRE(signature);
  CHECK(attr<std::vector<dtype>>(signature->attrs, "Tin") ==
        std::vector{dtype::string, dtype::i32});
  CHECK(signature->output_types == std::vector{dtype::u8, dtype::f64});
  CHECK(refused(call, {w.f}) == "attribute Tout (list of types) is missing");
  CHECK(matched(call, {w.f}, {{"Tout", std::vector<int64_t>{}}}).size() == 2);
  CHECK(refused(call, {w.f, w.i},
                {{"Tin", std::vector{dtype::f32}}, {"Tout", std::vector<dtype>{}}}) ==
        "input args[0] must be f32, got i32 from 'Const_3'");
  CHECK(refused(call, {w.f, {}}, {{"Tout", std::vector<dtype>{}}}) ==
        "input args is an empty edge");
  CHECK(refused(call, {w.f}, {{"Tout", std::vector{dtype::none}}})
            .starts_with("attribute Tout must list types of {"));
}

TEST_CASE("wrong inputs are refused, naming the port and the input's origin") {
  world w;
  CHECK(refused(concat_op, {w.f, w.f, w.f}) == "input axis must be i32, got f32 from 'Const'");
  CHECK(refused(concat_op, {w.i, w.f, w.d}) ==
        "input values must be f32 like input values, got f64 from 'Const_2'");
  CHECK(refused(concat_op, {w.i, w.f, w.f}, {{"T", dtype::f64}}) ==
        "input values must be f64 like attribute T, got f32 from 'Const'");
  CHECK(refused(concat_op, {w.i, w.f}) == "takes at least 2 inputs for 'N', got 1");
  CHECK(refused(concat_op, {}) == "takes the inputs (axis, values...), got 0");
  CHECK(refused(concat_op, {w.i, w.f, {}}) == "input values is an empty edge");
  CHECK(refused(concat_op, {w.i, w.f, w.f}, {{"N", 5}}) ==
        "takes the inputs (axis, values...), got 3");
  CHECK(refused(zip, {w.s, w.i}) ==
        "input as must be one of {f16, bf16, f32, f64}, got string from 'Const_4'");
  CHECK(refused(two_open, {w.f}) == "give attribute M, it cannot be deduced from the inputs");
  CHECK(matched(two_open, {w.f}, {{"M", 1}}).at("N") == attr_value{0});
}

TEST_CASE("a ref port takes the variable itself, a value port its value") {
  world w;
  auto v = add(w.in, {.op = "Variable", .attrs = {{"dtype", dtype::f32}}});
  const auto& assign = **ops().find_op("Assign");
  CHECK(match_signature(assign, {v, w.f}, {}).ok());
  CHECK(match_signature(assign, {v, v}, {}).ok());
  CHECK(refused(assign, {w.f, w.f}) ==
        "input ref must be a variable itself, but 'Const' carries a value");
  auto q = add(w.in, {.op = "Queue"});
  CHECK(refused(assign, {q, w.s}) == "input ref must be a variable, but 'Queue' is a queue");
  const auto& ask = **ops().find_op("Ask");
  auto text = add(w.in, {.op = "Variable", .attrs = {{"dtype", dtype::string}}});
  CHECK(match_signature(ask, {q, w.f}, {}).ok());
  CHECK(refused(ask, {text, w.f}) == "input queue must be a queue, but 'Variable_1' is a variable");
}

TEST_CASE("attributes get their defaults") {
  auto attrs = matched(options, {}, {{"count", 3}});
  CHECK(attrs.size() == 9);
  CHECK(attr<bool>(attrs, "flag") == false);
  CHECK(attr<double>(attrs, "rate") == 0.5);
  CHECK(attr<std::string>(attrs, "label") == "none");
  CHECK(attr<partial_shape>(attrs, "dims") == partial_shape::unknown());
  CHECK(attr<std::vector<int64_t>>(attrs, "sizes").empty());
  CHECK(attr<dtype>(attrs, "dtype") == dtype::f32);
}

TEST_CASE("attributes are converted only without loss") {
  auto attrs = matched(options, {},
                       {{"count", 3},
                        {"rate", 2},
                        {"dims", std::vector<int64_t>{-1, 2}},
                        {"weights", std::vector<int64_t>{1, 2}},
                        {"names", std::vector<int64_t>{}}});
  CHECK(attr<double>(attrs, "rate") == 2);
  CHECK(attr<partial_shape>(attrs, "dims") == partial_shape{-1, 2});
  CHECK(attr<std::vector<double>>(attrs, "weights") == std::vector<double>{1, 2});
  CHECK(attr<std::vector<std::string>>(attrs, "names").empty());
}

TEST_CASE("wrong attributes are refused, naming attribute and value") {
  CHECK(refused(options, {}, {{"cuont", 3}}) ==
        "there is no attribute 'cuont', did you mean 'count'?");
  CHECK(refused(options, {}) == "attribute count (int) is missing");
  CHECK(refused(options, {}, {{"count", 0}}) == "attribute count must be at least 1, got 0");
  CHECK(refused(options, {}, {{"count", 1.0}}) ==
        "attribute count must be an int, got the float 1");
  CHECK(refused(options, {}, {{"flag", "yes"}}) ==
        "attribute flag must be a bool, got the string \"yes\"");
  CHECK(refused(options, {}, {{"count", 1}, {"dtype", dtype::i32}}) ==
        "attribute dtype must be one of {f16, bf16, f32, f64}, got i32");
  CHECK(refused(options, {}, {{"dims", std::vector<int64_t>{-3}}}) ==
        "extents must be -1 (unknown) or more, got -3");
  CHECK(refused(options, {}, {{"names", std::vector<int64_t>{1}}}) ==
        "attribute names must be a list of strings, got the list of ints [1]");
}

} // namespace troupe::test::signature_test
