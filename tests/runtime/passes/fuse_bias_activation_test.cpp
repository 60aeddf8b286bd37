#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::fuse_bias_activation_test {

namespace {

constexpr auto start = R"(
x = Placeholder dtype=f32 shape=[-1,3]
w = Placeholder dtype=f32 shape=[3,2]
feed x = f32[[1, 2, 3], [-1, -2, -3]]
feed w = f32[[1, 0], [0, 1], [1, 1]]
)";

// The pass is for GPUs; processors have the kernel for the simulated GPU.
std::string joined(std::string_view text) {
  pass_case at{concat(start, text)};
  fuse_bias_activation(at.closed, device_kind::cpu);
  return at.written();
}

// The value of the first fetch, with and without the pass.
std::pair<result<tensor>, result<tensor>> unfused_and_fused(std::string_view text) {
  auto run = [&](bool join) -> result<tensor> {
    pass_case at{text};
    if (join)
      fuse_bias_activation(at.closed, device_kind::cpu);
    TROUPE_ASSIGN(auto got, run_closed(std::move(at.closed), feeds_of(at.text.text.runs[0])));
    return got.at(0);
  };
  return {run(false), run(true)};
}

std::string joined_alone(std::string_view text) {
  pass_case at{text};
  fuse_bias_activation(at.closed, device_kind::cpu);
  return at.written();
}

void check_same(std::string_view text, std::string_view becomes) {
  INFO(text);
  CHECK(joined_alone(text).find(becomes) != std::string::npos);
  auto [unfused, fused] = unfused_and_fused(text);
  REQUIRE(unfused);
  REQUIRE(fused);
  REQUIRE(unfused->dims() == fused->dims());
  for (int64_t i = 0; i < unfused->elements(); ++i)
    CHECK(fused->data<float>()[i] == Approx(unfused->data<float>()[i]));
}

} // namespace

TEST_CASE("a product, its bias and a Relu become one node with the name of the last") {
  pass_case at{concat(start, R"(
p = MatMul(x, w)
b = Add(f32[10, -20], p)
y = Relu(b)
fetch y
)")};
  auto product = at["p"].description(), last = at["y"].description();
  auto run = [&](bool join) {
    pass_case second_case{
        concat(start, "p = MatMul(x, w)\nb = Add(f32[10, -20], p)\ny = Relu(b)\nfetch y")};
    if (join)
      fuse_bias_activation(second_case.closed, device_kind::cpu);
    auto got = run_closed(std::move(second_case.closed), feeds_of(second_case.text.text.runs[0]));
    REQUIRE(got);
    auto values = got->at(0).values<float>();
    return std::vector<float>{values.begin(), values.end()};
  };
  CHECK(run(false) == std::vector<float>{14, 0, 6, 0});
  CHECK(run(true) == run(false));
  fuse_bias_activation(at.closed, device_kind::cpu);
  CHECK(at.written() == "Const=Const() y=_FusedMatMul(_feed_0,_feed_1,Const) ->y");
  CHECK(at["y"].attr<bool>("rectify"));
  CHECK(at["y"].output_shape(0) == partial_shape{-1, 2});
  CHECK(at["y"].description().find(concat("joined from ", product)) != std::string::npos);
  CHECK(at["y"].description().find(last) != std::string::npos);
}

TEST_CASE("a bias alone is fused, and a Relu alone is not") {
  CHECK(joined("p = MatMul(x, w)\ny = Add(p, f32[1, 2])\nfetch y").find("y=_FusedMatMul") !=
        std::string::npos);
  CHECK(joined("p = MatMul(x, w)\ny = Relu(p)\nfetch y").find("p=MatMul") != std::string::npos);
  auto twice = joined("p = MatMul(x, w)\nb = Add(p, f32[1, 2])\ny = Relu(b)\nz = Neg(b)\nfetch y\n"
                      "fetch z");
  CHECK(twice.find("b=_FusedMatMul") != std::string::npos);
  CHECK(twice.find("y=Relu(b)") != std::string::npos);
}

TEST_CASE("a node that is read, fetched or waited for elsewhere is not fused") {
  constexpr auto sum = "p = MatMul(x, w)\ny = Add(p, f32[1, 2])\nfetch y\n";
  for (auto* other_use : {"z = Neg(p)\nfetch z", "fetch p", "target p", "z = Neg(x, ^p)\nfetch z"})
    CHECK(joined(concat(sum, other_use)).find("p=MatMul") != std::string::npos);
}

TEST_CASE("the added tensor must have one float per column") {
  for (auto* added : {"f32[[1, 2]]", "f32(1)", "f32[1]", "p"})
    CHECK(joined(concat("p = MatMul(x, w)\ny = Add(p, ", added, ")\nfetch y")).find("p=MatMul") !=
          std::string::npos);
  CHECK(joined("i = Cast(x) DstT=i32\nv = Cast(w) DstT=i32\np = MatMul(i, v)\n"
               "y = Add(p, i32[1, 2])\nfetch y")
            .find("p=MatMul") != std::string::npos);
}

TEST_CASE("a variable that changes in between is read at its original position") {
  constexpr auto text = R"(
v = VariableV2 dtype=f32 shape=[3,2]
set = Assign(v, w)
p = MatMul(x, v, ^set)
q = MatMul(x, w)
change = AssignAdd(v, w, ^p)
y = Add(p, f32[1, 2], ^change)
fetch y
)";
  CHECK(joined(text).find("p=MatMul") != std::string::npos);
}

TEST_CASE("batches of products are fused, with broadcasting or without") {
  constexpr auto feeds = R"(
a = Placeholder dtype=f32 shape=[2,2,3]
b = Placeholder dtype=f32 shape=[2,3,2]
w = Placeholder dtype=f32 shape=[2,3]
feed a = f32[[[1, 2, 3], [-4, 5, 6]], [[7, -8, 9], [1, 0, -1]]]
feed b = f32[[[1, 2], [3, -4], [5, 6]], [[0, 1], [1, 0], [-2, 2]]]
feed w = f32[[1, -2, 0.5], [3, 4, -1]]
)";
  for (auto* text :
       {"p = BatchMatMul(a, b)\nq = Add(p, f32[-20, 1])\ny = Relu(q)\nfetch y",
        "p = BatchMatMulV2(a, w) adj_y=true\nq = BiasAdd(p, f32[1, -2])\ny = Relu(q)\nfetch y",
        "p = BatchMatMulV2(a, a) adj_x=true\ny = Add(f32[1, 2, 3], p)\nfetch y"})
    check_same(concat(feeds, text), "_FusedMatMul(");
}

TEST_CASE("the check that batches are equal also holds for fused products") {
  auto [unfused, fused] = unfused_and_fused(R"(
a = Placeholder dtype=f32 shape=[-1,2,3]
b = Placeholder dtype=f32 shape=[-1,3,2]
p = BatchMatMul(a, b)
y = Add(p, f32[1, 2])
feed a = f32[[[1, 2, 3], [4, 5, 6]]]
feed b = f32[[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]]
fetch y
)");
  REQUIRE_FALSE(unfused);
  REQUIRE_FALSE(fused);
  CHECK(fused.status().message().find("the same extents before the matrices") != std::string::npos);
}

TEST_CASE("a convolution, its bias and a Relu become one node, for either channel order") {
  constexpr auto last = R"(
x = Placeholder dtype=f32 shape=[-1,3,3,2]
w = Placeholder dtype=f32 shape=[2,2,2,2]
feed x = f32[[[[1, 2], [3, -4], [5, 6]], [[-7, 8], [9, 1], [2, 3]], [[4, 5], [6, -7], [8, 9]]]]
feed w = f32[[[[1, 0], [0, 1]], [[-1, 2], [1, 1]]], [[[2, 0], [1, -1]], [[0, 3], [1, 1]]]]
p = Conv2D(x, w) strides=[1, 1, 1, 1] padding="SAME"
)";
  constexpr auto first = R"(
x = Placeholder dtype=f32 shape=[1,2,2,2]
w = Placeholder dtype=f32 shape=[2,2,2,3]
feed x = f32[[[[1, 2], [3, -4]], [[5, 6], [-7, 8]]]]
feed w = f32[[[[1, 0, 1], [0, 1, 1]], [[-1, 2, 1], [1, 1, 1]]], [[[2, 0, 1], [1, -1, 1]], [[0, 3, 1], [1, 1, 1]]]]
p = Conv2D(x, w) strides=[1, 1, 2, 2] padding="SAME" data_format="NCHW"
)";
  check_same(concat(last, "b = BiasAdd(p, f32[-9, 4])\ny = Relu(b)\nfetch y"), "_FusedConv2D(");
  check_same(concat(last, "y = Add(f32[-9, 4], p)\nfetch y"), "_FusedConv2D(");
  check_same(
      concat(first, "b = BiasAdd(p, f32[-9, 4, 1]) data_format=\"NCHW\"\ny = Relu(b)\nfetch y"),
      "_FusedConv2D(");
  // The same numbers along another axis are not a bias.
  check_same(concat(first, "y = Add(p, f32[7])\nfetch y"), "p=Conv2D(");
  for (auto* other_use : {"z = Neg(p)\nfetch z", "fetch p"})
    CHECK(joined_alone(concat(last, "y = Add(p, f32[-9, 4])\nfetch y\n", other_use))
              .find("p=Conv2D(") != std::string::npos);
}

TEST_CASE("values that a layer's gradients read are not fused away") {
  auto text = joined_alone(R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
w = Placeholder dtype=f32 shape=[1,1,1,1]
feed x = f32[[[[1], [2]], [[-3], [4]]]]
feed w = f32[[[[2]]]]
p = Conv2D(x, w) strides=[1, 1, 1, 1] padding="VALID"
b = Add(p, f32[1])
y = Relu(b)
d = ReluGrad(x, y)
e = SoftplusGrad(x, b)
fetch d
fetch e
)");
  CHECK(text.find("b=_FusedConv2D(") != std::string::npos);
  CHECK(text.find("y=Relu(b)") != std::string::npos);
}

TEST_CASE("a fused node counts its operations") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[4,8,8,3]
w = Placeholder dtype=f32 shape=[3,3,3,5]
feed x = f32{4,8,8,3}[1]
feed w = f32{3,3,3,5}[1]
p = Conv2D(x, w) strides=[1, 1, 1, 1] padding="SAME"
y = Add(p, f32[1, 2, 3, 4, 5])
q = Placeholder dtype=f32 shape=[2,7,6]
v = Placeholder dtype=f32 shape=[2,7,4]
feed q = f32{2,7,6}[1]
feed v = f32{2,7,4}[1]
m = BatchMatMul(q, v) adj_x=true
z = Add(m, f32[1, 2, 3, 4])
fetch y
fetch z
)"};
  auto unfused = std::pair{at["p"].op().flops(at["p"]), at["m"].op().flops(at["m"])};
  fuse_bias_activation(at.closed, device_kind::cpu);
  CHECK(at["y"].op().flops(at["y"]) == unfused.first);
  CHECK(at["z"].op().flops(at["z"]) == unfused.second);
}

} // namespace troupe::test::fuse_bias_activation_test
