#include "tests/support/catch.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

namespace troupe::test::registry_test {

namespace {

constexpr op_def plain(std::string_view name) {
  return {.name = name, .doc = "For tests.", .infer = infer::nothing};
}

constexpr auto softmax = plain("Softmax"), softplus = plain("Softplus"), relu = plain("Relu");

registry filled() {
  registry filled_registry;
  for (auto* op : {&softmax, &softplus, &relu})
    REQUIRE(filled_registry.add(*op).ok());
  return filled_registry;
}

std::string missing(const registry& in, std::string_view name) {
  auto op = in.find_op(name);
  REQUIRE_FALSE(op);
  CHECK(op.status().kind() == error_kind::not_found);
  return op.status().message();
}

std::string refused(const op_def& op) {
  registry target;
  auto added = target.add(op);
  CHECK(added.kind() == error_kind::internal);
  return added.message();
}

status do_nothing(kernel_context&) { return {}; }

} // namespace

TEST_CASE("an op is found by its name, and a misspelt name gets suggestions") {
  auto known_ops = filled();
  CHECK(*known_ops.find_op("Softmax") == &softmax);
  CHECK(missing(known_ops, "softmax") == "there is no op 'softmax', did you mean 'Softmax'?");
  CHECK(missing(known_ops, "Sotfmax") == "there is no op 'Sotfmax', did you mean 'Softmax'?");
  CHECK(missing(known_ops, "Softmxs") ==
        "there is no op 'Softmxs', did you mean 'Softmax' or 'Softplus'?");
  CHECK(missing(known_ops, "Convolution") == "there is no op 'Convolution'");
  CHECK(missing(known_ops, "") == "there is no op ''");
  CHECK(missing(known_ops, std::string(5000, 'x')).size() > 5000); // no quadratic search for junk
}

TEST_CASE("the runtime's own ops are always registered, and users' ops cannot take their names") {
  registry none;
  for (auto name : {"_Feed", "_Fetch", "_Send", "_Recv", "_SendControl", "_RecvControl", "_Fused",
                    "_SwapOut", "_SwapIn", "_Swapped", "_FusedMatMul", "_FusedConv2D"})
    CHECK(none.find_op(name).ok());
  CHECK(none.ops().size() == std::size(internal_ops::definitions));
  CHECK(refused(plain("_Mine")).starts_with("op _Mine: names must not be empty"));
  CHECK(refused(plain("")).starts_with("op : names must not be empty"));
}

TEST_CASE("a name is registered once") {
  auto known_ops = filled();
  auto repeated = known_ops.add(softmax);
  CHECK(repeated.kind() == error_kind::already_exists);
  CHECK(repeated.message() == "op Softmax is registered already");
  std::vector<std::string_view> names;
  for (auto* op : known_ops.ops())
    if (!op->name.starts_with('_'))
      names.push_back(op->name);
  CHECK(names == std::vector<std::string_view>{"Relu", "Softmax", "Softplus"});
}

TEST_CASE("an op with a second name is found under either name, with its kernels") {
  static constexpr auto add = [] {
    auto op = plain("Plus");
    op.second_name = "PlusV2";
    op.doc = "Adds.\n\nLonger.";
    op.example = "s = Plus(a, Plus2, aPlus)";
    return op;
  }();
  static constexpr kernel_def kernel{.op = "Plus", .run = {{dtype::none, do_nothing}}};
  registry target;
  REQUIRE(target.add(add).ok());
  REQUIRE(target.add(kernel).ok());
  auto* second = *target.find_op("PlusV2");
  CHECK(second->name == "PlusV2");
  CHECK(second->infer == add.infer);
  CHECK(second->doc ==
        "Adds.\n\nThe same as Plus in all but its name, for graphs that use this one.");
  CHECK(second->example == "s = PlusV2(a, Plus2, aPlus)");
  CHECK(target.find_kernel("PlusV2", device_kind::cpu) == &kernel);
  CHECK(describe(add).find("Also named PlusV2.") != std::string::npos);

  CHECK(target.add(plain("PlusV2")).kind() == error_kind::already_exists);
  registry occupied;
  REQUIRE(occupied.add(plain("PlusV2")).ok());
  CHECK(occupied.add(add).message() == "op PlusV2 is registered already");
}

TEST_CASE("inconsistent definitions are refused") {
  constexpr std::string_view doc = "For tests.";
  CHECK(refused({.name = "Op", .doc = doc}) == "op Op: has no shape function");
  CHECK(refused({.name = "Op", .doc = doc, .inputs = {{"x", "T"}}, .infer = infer::nothing}) ==
        "op Op: port x has the unknown type T");
  CHECK(refused({.name = "Op",
                 .doc = doc,
                 .outputs = {{"y", "f32", "N"}},
                 .attrs = {{"N", 1.5}},
                 .infer = infer::nothing}) == "op Op: port y has the unknown count N");
  CHECK(
      refused(
          {.name = "Op", .doc = doc, .attrs = {{"a", 1}, {"a", true}}, .infer = infer::nothing}) ==
      "op Op: declares attribute a twice");
}

TEST_CASE("a kernel is found by op and device, and registered once for both") {
  kernel_def host{.op = "Relu", .run = {{dtype::none, do_nothing}}};
  kernel_def gpu{.op = "Relu", .device = device_kind::gpu, .run = {{dtype::none, do_nothing}}};
  auto known_ops = filled();
  CHECK(known_ops.find_kernel("Relu", device_kind::cpu) == nullptr);
  CHECK(known_ops.add(host).ok());
  CHECK(known_ops.find_kernel("Relu", device_kind::cpu) == &host);
  CHECK(known_ops.find_kernel("Relu", device_kind::gpu) == nullptr);
  CHECK(known_ops.add(gpu).ok());
  CHECK(known_ops.find_kernel("Relu", device_kind::gpu) == &gpu);
  CHECK(known_ops.add(gpu).message() == "op Relu has a gpu kernel already");
  kernel_def empty{.op = "Softmax"};
  CHECK(known_ops.add(empty).message() == "the cpu kernel of Softmax lacks a function");
  kernel_def null{.op = "Softmax", .run = {{dtype::f32, nullptr}}};
  CHECK(known_ops.add(null).kind() == error_kind::internal);
}

TEST_CASE("similar names are sorted by similarity, at most three, and none too different") {
  CHECK(similar("abcd", {"abce", "abcd", "xbcd", "abcf", "zzzz"}) ==
        std::vector<std::string>{"abcd", "abce", "abcf"});
  CHECK(similar("abcd", {"wxyz", "a", "abcdefghijk"}).empty());
  CHECK(similar("abcd", {}).empty());
  CHECK(did_you_mean("abc", {"abd", "abe", "abf", "abg"}) ==
        ", did you mean 'abd', 'abe' or 'abf'?");
}

TEST_CASE("an op's description shows signature, attributes, defaults and gradient") {
  constexpr op_def op{.name = "Pool",
                      .doc = "Pools.",
                      .inputs = {ref("v", "T"), {"xs", "T", "N"}},
                      .outputs = {{"y", "T"}},
                      .attrs = {{"T", floating, dtype::f32},
                                {"N", at_least{1}},
                                {"padding", "SAME"},
                                {"sizes", attr_kind::integers, true},
                                {"shape", attr_kind::shape, true}},
                      .infer = infer::scalar,
                      .no_gradient = "nobody wanted one",
                      .example = "y = Pool(v, x)"};
  CHECK(describe(op) == "Pool(v: ref T, xs: N * T) -> (y: T)\n\nPools.\n\nAttributes:\n"
                        "  T: type in {f16, bf16, f32, f64} = f32\n"
                        "  N: int >= 1\n"
                        "  padding: string = \"SAME\"\n"
                        "  sizes: list of ints = []\n"
                        "  shape: shape = [...]\n"
                        "\nGradient: none; nobody wanted one\n\nExample:\ny = Pool(v, x)\n");
}

} // namespace troupe::test::registry_test
