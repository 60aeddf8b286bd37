#include "tests/support/catch.hpp"
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace troupe::test::dtype_test {

namespace {

// The value of a half's bits, by definition.
double value_of_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  auto magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

double value_of_bfloat(uint16_t bits) {
  int exponent = bits >> 7 & 255, fraction = bits & 127;
  auto magnitude = exponent == 255 ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? std::ldexp(fraction, -133)
                                   : std::ldexp(128 + fraction, exponent - 134);
  return bits >> 15 ? -magnitude : magnitude;
}

// Rounds by search: among the numbers of the format around the magnitude, the nearest one, and of
// two equally near ones the one whose last bit is 0. `infinity` is the number after the largest.
template <class Value>
uint16_t round_slowly(float value, uint16_t infinity, Value value_of) {
  auto magnitude = std::abs(double{value});
  uint32_t low = 0, high = infinity;
  auto at = [&](uint32_t bits) { // the grid continues beyond the largest
    if (bits < infinity)
      return value_of(static_cast<uint16_t>(bits));
    auto last = value_of(static_cast<uint16_t>(infinity - 1));
    return last + (last - value_of(static_cast<uint16_t>(infinity - 2)));
  };
  if (magnitude >= at(infinity))
    return static_cast<uint16_t>(infinity | (std::signbit(value) ? 0x8000 : 0));
  while (high - low > 1) {
    auto middle = (low + high) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  auto below = magnitude - at(low), above = at(high) - magnitude;
  auto nearest = below < above || (below == above && low % 2 == 0) ? low : high;
  return static_cast<uint16_t>(nearest | (std::signbit(value) ? 0x8000u : 0u));
}

template <class Check>
void for_many_floats(Check check) {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (int i = 0; i < 300'000; ++i)
    check(std::bit_cast<float>(static_cast<uint32_t>(dice())));
  for (int i = 0; i < 300'000; ++i) // in the range of halves
    check(std::ldexp(static_cast<float>(dice() % 65536) - 32768.f,
                     static_cast<int>(dice() % 60) - 45));
}

} // namespace

TEST_CASE("every half and every bfloat survives the conversion to float and back") {
  int mismatches = 0;
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float16 half;
    half.bits = static_cast<uint16_t>(bits);
    bfloat16 brain;
    brain.bits = static_cast<uint16_t>(bits);
    for (auto [wide, expected, back] :
         {std::tuple{float(half), value_of_half(half.bits), float16{float(half)}.bits},
          std::tuple{float(brain), value_of_bfloat(brain.bits), bfloat16{float(brain)}.bits}}) {
      if (std::isnan(expected))
        mismatches += !std::isnan(wide) || (back >> 15) != (bits >> 15);
      else
        mismatches +=
            wide != expected || std::signbit(wide) != std::signbit(expected) || back != bits;
    }
    if (std::isnan(float(half)))
      mismatches += !std::isnan(float(float16{float(half)}));
    if (std::isnan(float(brain)))
      mismatches += !std::isnan(float(bfloat16{float(brain)}));
  }
  CHECK(mismatches == 0);
}

TEST_CASE("conversion to half rounds to nearest, ties to even") {
  auto check = [](float value) {
    if (auto bits = float16{value}.bits; std::isnan(value))
      return (bits & 0x7fff) > 0x7c00;
    else
      return bits == round_slowly(value, 0x7c00, value_of_half);
  };
  for (uint32_t bits = 0; bits < 0x7bff;
       ++bits) { // the middle between adjacent numbers, and next to it
    auto low = value_of_half(static_cast<uint16_t>(bits));
    auto middle = static_cast<float>((low + value_of_half(static_cast<uint16_t>(bits + 1))) / 2);
    for (auto value :
         {middle, std::nextafter(middle, 0.f), std::nextafter(middle, INFINITY), -middle})
      if (!check(value))
        FAIL("rounds " << value << " to " << float(float16{value}));
  }
  for (float value : {65504.f, 65519.996f, 65520.f, 65536.f, 1e30f, 0.f, -0.f, INFINITY, -INFINITY})
    CHECK(check(value));
  for_many_floats([&](float value) {
    if (!check(value))
      FAIL("rounds " << value << " to " << float(float16{value}));
  });
}

TEST_CASE("conversion to bfloat rounds to nearest, ties to even") {
  auto check = [](float value) {
    if (auto bits = bfloat16{value}.bits; std::isnan(value))
      return (bits & 0x7fff) > 0x7f80;
    else
      return bits == round_slowly(value, 0x7f80, value_of_bfloat);
  };
  for (uint32_t bits = 0; bits < 0x7f80; ++bits)
    for (uint32_t tail : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      if (auto value = std::bit_cast<float>(bits << 16 | tail); !check(value) || !check(-value))
        FAIL("rounds " << value << " to " << float(bfloat16{value}));
  CHECK(check(std::numeric_limits<float>::max()));
  for_many_floats([&](float value) {
    if (!check(value))
      FAIL("rounds " << value << " to " << float(bfloat16{value}));
  });
}

TEST_CASE("halves compare as numbers") {
  CHECK(float16{0.f} == float16{-0.f});
  CHECK_FALSE(float16{NAN} == float16{NAN});
  CHECK(bfloat16{1.5f} == bfloat16{1.5f});
  CHECK_FALSE(bfloat16{1.5f} == bfloat16{2.f});
}

TEST_CASE("every type has a name that reads back, and the size of the C++ type that holds it") {
  for (int i = 1; i < dtype_count; ++i) {
    auto type = static_cast<dtype>(i);
    CHECK(dtype_from(to_string(type)) == type);
    CHECK(any_value.contains(type));
    CHECK(size_of(type) > 0);
  }
  CHECK_FALSE(dtype_from("none"));
  CHECK_FALSE(dtype_from("float"));
  CHECK_FALSE(dtype_from(""));
  CHECK(to_string(static_cast<dtype>(99)) == "none");
  CHECK(size_of(dtype_of<bool>) == sizeof(bool));
  CHECK(size_of(dtype_of<bfloat16>) == sizeof(bfloat16));
  CHECK(size_of(dtype_of<std::complex<double>>) == sizeof(std::complex<double>));
  CHECK(size_of(dtype_of<std::string>) == sizeof(std::string));
  STATIC_REQUIRE(dtype_of<long long> == dtype::i64);
  STATIC_REQUIRE(dtype_of<const unsigned char> == dtype::u8);
}

TEST_CASE("sets of types join and print in a fixed order") {
  STATIC_REQUIRE((floating | integers) == real_numbers);
  STATIC_REQUIRE_FALSE(numbers.contains(dtype::string));
  STATIC_REQUIRE(dtype_set{}.empty());
  CHECK(concat(one_of(dtype::f64, dtype::i32)) == "i32, f64");
}

} // namespace troupe::test::dtype_test
