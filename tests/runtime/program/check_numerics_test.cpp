#include "tests/support/catch.hpp"
#include "troupe/runtime/program/check_numerics.hpp"

#include <cmath>
#include <limits>

namespace troupe::test::check_numerics_test {

namespace {

template <class T>
tensor filled(int64_t elements) {
  auto value = tensor::make(dtype_of<T>, shape{elements});
  REQUIRE(value);
  for (int64_t i = 0; i < elements; ++i)
    value->template data<T>()[i] = T{1.5f};
  return *value;
}

template <class T>
T bad(float number) {
  return T{number};
}

} // namespace

TEMPLATE_TEST_CASE("a number that is not finite is found at any position", "", float16, bfloat16,
                   float, double, std::complex<float>, std::complex<double>) {
  for (float number :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()})
    for (int64_t elements : {1, 7, 1023, 1024, 1025, 5000})
      for (auto at : {int64_t{0}, elements / 2, elements - 1}) {
        auto value = filled<TestType>(elements);
        CHECK(all_finite(value));
        CHECK(summarize(value).finite());
        value.template data<TestType>()[at] = bad<TestType>(number);
        CHECK_FALSE(all_finite(value));
        auto summary = summarize(value);
        CHECK(summary.first_index == at);
        CHECK(summary.nans + summary.infinities == 1);
        CHECK((summary.nans == 1) == std::isnan(number));
        if (elements > 1) {
          CHECK(summary.minimum == 1.5);
          CHECK(summary.maximum == 1.5);
        }
      }
}

TEST_CASE("the greatest and smallest numbers are finite") {
  CHECK(all_finite(tensor::vector<float>(
      {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), -0.0f})));
  auto huge = std::numeric_limits<double>::max();
  auto corner = tensor::vector<std::complex<double>>({{huge, huge}});
  CHECK(all_finite(corner));
  CHECK(summarize(corner).finite()); // although its magnitude is infinite
}

TEST_CASE("an imaginary part counts as well as a real one") {
  auto value =
      tensor::vector<std::complex<float>>({{1, 0}, {0, NAN}, {INFINITY, NAN}, {INFINITY, 1}});
  CHECK_FALSE(all_finite(value));
  auto summary = summarize(value);
  CHECK(summary.nans == 2);
  CHECK(summary.infinities == 1);
  CHECK(summary.first_index == 1);
}

TEST_CASE("types without NaN are always finite") {
  CHECK(all_finite(tensor::vector<int>({1, 2})));
  CHECK(all_finite(tensor::vector<std::string>({"NaN"})));
  CHECK(describe(summarize(tensor::vector<int>({1, 2}))) == "i32[2]");
}

TEST_CASE("a summary reads as a sentence") {
  auto value = tensor::from_values<float>({2, 3}, {1, -1, NAN, INFINITY, 3, 2});
  CHECK(describe(summarize(value)) == "f32[2,3]: 2 of 6 values are not finite (1 NaN, 1 infinite), "
                                      "the first at [0,2]; the others from -1 to 3");
  CHECK(describe(summarize(tensor::vector<float>({1, 2}))) == "f32[2]: finite, from 1 to 2");
  CHECK(describe(summarize(tensor::scalar(NAN))) ==
        "f32[]: 1 of 1 value is not finite (1 NaN, 0 infinite), the first at []");
  CHECK(describe(summarize(tensor::vector<float>({}))) == "f32[0]");
}

} // namespace troupe::test::check_numerics_test
