#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/program/program.hpp"

namespace troupe::test::compile_test {

namespace {

struct world {
  std::unique_ptr<graph> in = std::make_unique<graph>(ops());
  test_device device;
  variables state;

  edge op(std::string name, std::vector<edge> inputs, attr_map attrs = {}) {
    return add(*in,
               {.op = std::move(name), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  }
  edge recv(int key) {
    return op("_Recv", {}, {{"key", key}, {"from", ""}, {"dtype", dtype::i64}, {"shape", shape{}}});
  }
  void fetch(int index, edge source) { op("_Fetch", {source}, {{"index", index}}); }
  edge unit = constant(*in, int64_t{1});

  result<std::shared_ptr<const program>> compile() {
    return program::compile(std::move(in), device, std::ref(state));
  }
  std::string refused() {
    auto compiled = compile();
    REQUIRE_FALSE(compiled);
    return concat(compiled.status());
  }
};

} // namespace

TEST_CASE("code without waits is one region, in order, and marks the last uses of tensors") {
  world w;
  auto x = w.op("Neg", {w.unit});
  auto sum = w.op("Add", {x, x}), product = w.op("Mul", {sum, x});
  w.fetch(3, product);
  auto compiled = *w.compile();
  REQUIRE(compiled->regions().size() == 1);
  CHECK(compiled->regions()[0].required_tokens == 1);
  auto code = compiled->code();
  REQUIRE(code.size() == 4);
  CHECK(code[0].origin->name() == "Neg");
  CHECK(code[0].last_uses == 0); // a constant is kept
  CHECK(code[1].last_uses == 0); // it is used again
  CHECK(code[2].last_uses == 0b11);
  CHECK(code[2].release_count == 2);
  CHECK(code[3].kind == action::fetch);
  CHECK(code[3].target == 3);
  REQUIRE(compiled->constants().size() == 1);
  CHECK(compiled->constants()[0].origin->name() == "Const");
  CHECK(std::vector<uint32_t>(compiled->fetches().begin(), compiled->fetches().end()) ==
        std::vector<uint32_t>{3});
}

TEST_CASE("an input that is used twice by its last user is released at the two inputs") {
  world w;
  auto x = w.op("Neg", {w.unit});
  w.fetch(0, w.op("Add", {x, x}));
  auto compiled = *w.compile();
  CHECK(compiled->code()[1].last_uses ==
        0b11); // element-wise: reads each element before it writes it
  CHECK(compiled->code()[1].release_count == 1);
}

TEST_CASE("an op that is not element-wise may not write over an input that it takes twice") {
  world w;
  auto x = w.op("Neg", {w.unit});
  w.fetch(0, w.op("AddN", {x, x}));
  auto compiled = *w.compile();
  CHECK(compiled->code()[1].last_uses == 0);
  CHECK(compiled->code()[1].release_count == 1);
}

TEST_CASE("waits start regions of their own, and tokens carry the tensors that these need") {
  world w;
  auto a = w.recv(7);
  auto sum = w.op("Add", {w.unit, a});
  w.fetch(0, w.op("Mul", {sum, w.unit}));
  auto compiled = *w.compile();
  REQUIRE(compiled->regions().size() == 2);
  CHECK(compiled->regions()[1].required_tokens == 2); // the answer, and the constant once
  REQUIRE(compiled->waits().size() == 1);
  CHECK(compiled->waits()[0].region == 1);
  CHECK(compiled->waits()[0].answered_by == answer_source::channel);
  CHECK(compiled->waits()[0].origin->name() == "_Recv");
  CHECK(compiled->describe() == "constant Const -> 0\n"
                                "region 0, after 1 tokens:\n"
                                "  token to region 1 Const 'Const' (0)\n"
                                "region 1, after 2 tokens:\n"
                                "  run Add 'Add' (2, 1) -> 3\n"
                                "  run Mul 'Mul' (3, 2) -> 4\n"
                                "  fetch 0 _Fetch '_Fetch' (4)\n");
}

TEST_CASE("feeds, exports and queues are listed with the data that the conductor needs") {
  world w;
  auto x = w.op("_Feed", {}, {{"index", 2}, {"dtype", dtype::i64}});
  w.op("_Feed", {}, {{"index", 5}, {"dtype", dtype::i64}}); // it is not used
  auto q = w.op("Queue", {});
  auto ask = w.op("Ask", {q, x});
  w.op("_Send", {ask}, {{"key", 9}, {"to", "/job:b"}});
  add(*w.in,
      {.op = "_SendControl", .attrs = {{"key", 10}, {"to", "/job:c"}}, .controls = {ask.node}});
  auto compiled = *w.compile();
  REQUIRE(compiled->feeds().size() == 1);
  CHECK(compiled->feeds()[0].index == 2);
  REQUIRE(compiled->exports().size() == 2);
  CHECK(compiled->exports()[0].key == 9);
  CHECK(compiled->exports()[0].to == "/job:b");
  CHECK(compiled->exports()[1].key == 10);
  REQUIRE(compiled->waits().size() == 1);
  CHECK(compiled->waits()[0].state->name() == "Queue");
  CHECK(compiled->waits()[0].slots.size() == 2);
  CHECK(compiled->waits()[0].slots[1] == UINT32_MAX); // its output is not used
}

TEST_CASE("a node before its dependency is reported as a defect, not computed wrongly") {
  world w;
  auto first = w.op("Neg", {w.unit}), second = w.op("Neg", {w.unit});
  CHECK(w.in->add_control(*second.node, *first.node).ok());
  auto text = w.refused();
  CHECK(text.starts_with("internal: Neg 'Neg' (compile_test.cpp:"));
  CHECK(text.ends_with("comes before a node that it depends on"));
}

TEST_CASE("a node that cannot run on the device is refused with its name") {
  world w;
  SECTION("no kernel at all") {
    w.op("GivesUp", {w.unit});
    CHECK(w.refused().ends_with("there is no cpu kernel for its types"));
  }
  SECTION("no kernel for the type") {
    auto v = w.op("Variable", {}, {{"dtype", dtype::f64}});
    w.op("AssignAdd", {v, constant(*w.in, 1.)});
    // The test's AssignAdd takes i64 and f32 only.
    auto text = w.refused();
    CHECK(text.starts_with("unimplemented: AssignAdd 'AssignAdd' (compile_test.cpp:"));
    CHECK(text.ends_with("there is no cpu kernel for its types"));
  }
  SECTION("a queue as a value input") {
    auto v = w.op("Variable", {}, {{"dtype", dtype::string}});
    w.op("Assign", {v, w.op("Queue", {})});
    CHECK(w.refused().ends_with("input 1 must be a value, and 'Queue' is a queue"));
  }
  SECTION("a variable that is not available") {
    auto v = w.op("Variable", {}, {{"dtype", dtype::i64}});
    w.fetch(0, v);
    auto compiled = program::compile(std::move(w.in), w.device, [](const node&) {
      return result<std::shared_ptr<named_state>>{invalid("exists with another type")};
    });
    CHECK(compiled.status().message().starts_with("Variable 'Variable' (compile_test.cpp:"));
    CHECK(compiled.status().message().ends_with("): exists with another type"));
  }
}

TEST_CASE("a program keeps its variables alive, and looks up each once") {
  world w;
  int lookup_count = 0;
  auto v = w.op("Variable", {}, {{"dtype", dtype::i64}});
  w.op("AssignAdd", {v, w.unit});
  w.fetch(0, v);
  std::weak_ptr<variable> weak_variable;
  auto compiled = *program::compile(std::move(w.in), w.device, [&](const node& variable_node) {
    ++lookup_count;
    auto created = std::make_shared<variable>(variable_node.name(), dtype::i64, partial_shape{});
    weak_variable = created;
    return result<std::shared_ptr<named_state>>{created};
  });
  CHECK(lookup_count == 1);
  CHECK_FALSE(weak_variable.expired());
  compiled.reset();
  CHECK(weak_variable.expired());
}

TEST_CASE("a region does not wait for a variable's node") {
  world w;
  auto v = w.op("Variable", {}, {{"dtype", dtype::i64}});
  w.op("AssignAdd", {v, w.recv(1)});
  w.fetch(0, v);
  auto compiled = *w.compile();
  REQUIRE(compiled->regions().size() == 2);
  CHECK(compiled->regions()[1].required_tokens == 1); // the answer
}

} // namespace troupe::test::compile_test
