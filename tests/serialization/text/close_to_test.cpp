#include "tests/support/catch.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <limits>

namespace troupe::test::close_to_test {
namespace {

TEST_CASE("values are close within the tolerance, relative above 1 and absolute below") {
  auto close = [](double a, double e) {
    return close_to(tensor::scalar(a), tensor::scalar(e), 1e-3);
  };
  CHECK(close(1000.9, 1000));
  CHECK_FALSE(close(1001.1, 1000));
  CHECK(close(0.0009, 0));
  CHECK_FALSE(close(0.0011, 0));
}

TEST_CASE("only NaN is close to NaN, and only the same infinity to an infinity") {
  auto inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  auto close = [](float a, float e) { return close_to(tensor::scalar(a), tensor::scalar(e), 1e9); };
  CHECK(close(nan, nan));
  CHECK_FALSE(close(nan, 1));
  CHECK_FALSE(close(1, nan));
  CHECK(close(inf, inf));
  CHECK_FALSE(close(inf, -inf));
  CHECK_FALSE(close(3e38f, inf));
}

TEST_CASE("integers and text must be equal for any tolerance") {
  CHECK_FALSE(close_to(tensor::scalar(int64_t{1}), tensor::scalar(int64_t{2}), 10));
  CHECK_FALSE(close_to(tensor::scalar(std::string{"a"}), tensor::scalar(std::string{"b"}), 10));
}

TEST_CASE("the difference of two tensors names the first position and the number of further ones") {
  std::string reason;
  CHECK_FALSE(close_to(tensor::from_values<float>({2, 2}, {1, 2, 3, 5}),
                       tensor::from_values<float>({2, 2}, {1, 2, 4, 4}), 0.125, &reason));
  CHECK(reason ==
        "element [1,0] is f32[] {3}, expected f32[] {4} within 0.125; 2 of 4 elements differ");
  CHECK_FALSE(close_to(tensor::scalar(1.f), tensor::scalar(1.), 1, &reason));
  CHECK(reason == "is f32[], expected f64[]");
}

} // namespace
} // namespace troupe::test::close_to_test
