#include "troupe/runtime/passes/rewriter.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::rewriter_test {

TEST_CASE("a pass that makes a cycle is detected before the graph is used") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[]
y = Neg(x)
z = Exp(y)
feed x = f32(1)
fetch z
)"};
  rewriter change{at.closed};
  change.set_input(at["y"], 0, {&at["z"], 0});
  CHECK_THROWS_WITH(change.finish(), Catch::Matchers::Contains("a pass made a cycle through"));
}

} // namespace troupe::test::rewriter_test
