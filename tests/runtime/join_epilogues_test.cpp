#include "troupe/tests/support/catch.hpp"
#include "troupe/tests/support/pass_case.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr auto start = R"(
x = Placeholder dtype=f32 shape=[-1,3]
w = Placeholder dtype=f32 shape=[3,2]
feed x = f32[[1, 2, 3], [-1, -2, -3]]
feed w = f32[[1, 0], [0, 1], [1, 1]]
)";

// The pass is the GPUs'; processors have the kernel, too, for simulated ones.
std::string joined(std::string_view text) {
  pass_case at{concat(start, text)};
  join_epilogues(at.closed, device_kind::cpu);
  return at.written();
}

} // namespace

TEST_CASE("a product, its bias and a Relu are one node with the name of the last") {
  pass_case at{concat(start, R"(
p = MatMul(x, w)
b = Add(f32[10, -20], p)
y = Relu(b)
fetch y
)")};
  auto product = at["p"].description(), last = at["y"].description();
  auto run = [&](bool join) {
    pass_case again{
        concat(start, "p = MatMul(x, w)\nb = Add(f32[10, -20], p)\ny = Relu(b)\nfetch y")};
    if (join)
      join_epilogues(again.closed, device_kind::cpu);
    auto got = run_closed(std::move(again.closed), feeds_of(again.text.text.runs[0]));
    REQUIRE(got);
    auto values = got->at(0).values<float>();
    return std::vector<float>{values.begin(), values.end()};
  };
  CHECK(run(false) == std::vector<float>{14, 0, 6, 0});
  CHECK(run(true) == run(false));
  join_epilogues(at.closed, device_kind::cpu);
  CHECK(at.written() == "Const=Const() y=_BiasedProduct(_feed_0,_feed_1,Const) ->y");
  CHECK(at["y"].attr<bool>("rectify"));
  CHECK(at["y"].output_shape(0) == partial_shape{-1, 2});
  CHECK(at["y"].description().find(concat("joined from ", product)) != std::string::npos);
  CHECK(at["y"].description().find(last) != std::string::npos);
}

TEST_CASE("a bias alone is joined, and a Relu alone is not") {
  CHECK(joined("p = MatMul(x, w)\ny = Add(p, f32[1, 2])\nfetch y").find("y=_BiasedProduct") !=
        std::string::npos);
  CHECK(joined("p = MatMul(x, w)\ny = Relu(p)\nfetch y").find("p=MatMul") != std::string::npos);
  auto twice = joined("p = MatMul(x, w)\nb = Add(p, f32[1, 2])\ny = Relu(b)\nz = Neg(b)\nfetch y\n"
                      "fetch z");
  CHECK(twice.find("b=_BiasedProduct") != std::string::npos);
  CHECK(twice.find("y=Relu(b)") != std::string::npos);
}

TEST_CASE("what somebody else reads, fetches or waits for is not joined") {
  constexpr auto sum = "p = MatMul(x, w)\ny = Add(p, f32[1, 2])\nfetch y\n";
  for (auto* more : {"z = Neg(p)\nfetch z", "fetch p", "target p", "z = Neg(x, ^p)\nfetch z"})
    CHECK(joined(concat(sum, more)).find("p=MatMul") != std::string::npos);
}

TEST_CASE("what is added must be one number for each column, and the numbers floats") {
  for (auto* other : {"f32[[1, 2]]", "f32(1)", "f32[1]", "p"})
    CHECK(joined(concat("p = MatMul(x, w)\ny = Add(p, ", other, ")\nfetch y")).find("p=MatMul") !=
          std::string::npos);
  CHECK(joined("i = Cast(x) DstT=i32\nv = Cast(w) DstT=i32\np = MatMul(i, v)\n"
               "y = Add(p, i32[1, 2])\nfetch y")
            .find("p=MatMul") != std::string::npos);
}

TEST_CASE("a variable that changes in between is read where it was") {
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
