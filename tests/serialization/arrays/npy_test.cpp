#include "troupe/serialization/arrays/npy.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/npy.hpp"

#include <fstream>

namespace troupe::test::npy_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

result<tensor> read(const std::string& file) { return read_npy(std::as_bytes(std::span{file})); }

// A file with a header of version 1 as NumPy writes it, but without padding.
std::string file(const std::string& header, const std::string& data) {
  auto size = static_cast<char>(header.size());
  return "\x93NUMPY\x01\x00"s + size + '\0' + header + data;
}

std::string array(const std::string& descr, const std::string& dims, const std::string& data,
                  bool fortran = false) {
  return file(concat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                     ", 'shape': ", dims, ", }          \n"),
              data);
}

std::string value(const std::string& npy) {
  auto got = read(npy);
  return got ? to_string(*got) : got.status().message();
}

TEST_CASE("arrays of NumPy's types are read, in either byte order") {
  CHECK(value(array("<f4", "(2,)", "\0\0\x80\x3f\0\0\0\xc0"s)) == "f32[2] {1, -2}");
  CHECK(value(array(">f4", "(2,)", "\x3f\x80\0\0\xc0\0\0\0"s)) == "f32[2] {1, -2}");
  CHECK(value(array(">f8", "()", "\x3f\xe0\0\0\0\0\0\0"s)) == "f64[] {0.5}");
  CHECK(value(array("<i2", "(1, 2)", "\x01\0\xff\xff"s)) == "i16[1,2] {1, -1}");
  CHECK(value(array(">u4", "(1,)", "\0\0\x01\0"s)) == "u32[1] {256}");
  CHECK(value(array(">u8", "(1L,)", "\0\0\0\0\0\0\x01\0"s)) == "u64[1] {256}");
  CHECK(value(array("|i1", "(1,)", "\x80"s)) == "i8[1] {-128}");
  CHECK(value(array("|u1", "(2, 0)", "")) == "u8[2,0] {}");
  CHECK(value(array("|b1", "(3,)", "\0\1\2"s)) == "bool[3] {false, true, true}");
  CHECK(value(array("<f2", "(1,)", "\0\x3c"s)) == "f16[1] {1}");
  CHECK(value(array(">f2", "(1,)", "\x3c\0"s)) == "f16[1] {1}");
  CHECK(value(array("|V2", "(1,)", "\x80\x3f"s)) == "bf16[1] {1}");
  auto complex = tensor::scalar(std::complex<float>{1, -2});
  CHECK(identical(*read(array(">c8", "()", "\x3f\x80\0\0\xc0\0\0\0"s)), complex));
  CHECK(identical(*read(array("<c8", "()", "\0\0\x80\x3f\0\0\0\xc0"s)), complex));
}

TEST_CASE("errors of .npy files name the file") {
  temporary_folder folder;
  auto error_of = [](auto act) {
    try {
      act();
    } catch (const error& thrown) {
      return concat(to_string(thrown.kind()), ": ", thrown.what());
    }
    return std::string{"nothing was thrown"};
  };
  auto path = folder / "a.npy", nowhere = folder / "no/a.npy";
  CHECK_THAT(error_of([&] { load_npy(path); }),
             Contains(path) && Contains(std::string{to_string(error_kind::not_found)}));
  CHECK_THAT(error_of([&] { save_npy(nowhere, tensor::scalar(1)); }), Contains(nowhere));
  std::ofstream{path} << "no array";
  CHECK_THAT(error_of([&] { load_npy(path); }), Contains(path));
  save_npy(path, tensor::vector<float>({1, 2}));
  CHECK(to_string(load_npy(path)) == "f32[2] {1, 2}");
  CHECK_THAT(error_of([&] { save_npy(path, tensor{}); }), Contains(path));
  CHECK(to_string(load_npy(path)) == "f32[2] {1, 2}");
}

TEST_CASE("text of fixed length becomes strings") {
  CHECK(value(array("|S3", "(3,)", "ab\0abc\0\0\0"s)) == R"(string[3] {"ab", "abc", ""})");
  CHECK(identical(*read(array("|S3", "(1,)", "\0a\0"s)), tensor::vector<std::string>({"\0a"s})));
  CHECK(value(array("|S0", "(2,)", "")) == R"(string[2] {"", ""})");
  CHECK(identical(*read(array("<U2", "(2,)", "a\0\0\0\xfc\0\0\0\x0e\xf6\x01\0\0\0\0\0"s)),
                  tensor::vector<std::string>({"a\xc3\xbc", "\xf0\x9f\x98\x8e"})));
  CHECK(identical(*read(array(">U1", "()", "\0\0\x20\xac"s)),
                  tensor::scalar<std::string>("\xe2\x82\xac")));
}

TEST_CASE("arrays in Fortran's order are converted to row-major order") {
  CHECK(value(array("|u1", "(2, 3)", "\1\4\2\5\3\6"s, true)) == "u8[2,3] {1, 2, 3, 4, 5, 6}");
  CHECK(value(array("|S1", "(2, 2)", "acbd", true)) == R"(string[2,2] {"a", "b", "c", "d"})");
  CHECK(value(array("|u1", "(2, 1, 2)", "\1\3\2\4"s, true)) == "u8[2,1,2] {1, 2, 3, 4}");
  CHECK(value(array("|u1", "(3,)", "\1\2\3"s, true)) == "u8[3] {1, 2, 3}");
  CHECK(value(array("|u1", "(2, 0)", "", true)) == "u8[2,0] {}");
}

TEST_CASE("written .npy files equal NumPy's") {
  auto npy = write_npy(tensor::from_values<float>({2, 1}, {1, -2}));
  REQUIRE(npy);
  CHECK(npy->size() == 128 + 8);
  CHECK(npy->starts_with("\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, "
                         "'shape': (2, 1), }  "s));
  CHECK((*npy)[127] == '\n');
  CHECK_THAT(*write_npy(tensor::from_values<bool>({0}, {})),
             Contains("'|b1'") && Contains("'shape': (0,)"));
  CHECK_THAT(*write_npy(tensor::scalar(1.0)), Contains("'shape': (), }"));
}

TEST_CASE("every type survives a .npy file") {
  const tensor values[] = {
      tensor::from_values<float>({1, 2, 1}, {1, 2}),
      tensor::scalar(2.5),
      tensor::vector<int64_t>({INT64_MIN, 7}),
      tensor::vector<int32_t>({-1}),
      tensor::vector<int16_t>({-1}),
      tensor::vector<int8_t>({-1}),
      tensor::vector<uint64_t>({UINT64_MAX}),
      tensor::vector<uint32_t>({7}),
      tensor::vector<uint16_t>({7}),
      tensor::from_values<uint8_t>({0, 3}, {}),
      tensor::from_values<bool>({2}, {true, false}),
      tensor::vector<float16>({float16{0.5f}}),
      tensor::vector<bfloat16>({bfloat16{0.5f}}),
      tensor::vector<std::complex<float>>({{1, 2}}),
      tensor::vector<std::complex<double>>({{1, 2}, {3, 4}}),
      tensor::from_values<std::string>({2, 2}, {"a", "", "long", "\xff"}),
      tensor::from_values<std::string>({0}, {}),
      tensor::from_values<float>({1, 1, 1, 1, 1, 1, 1, 1}, {1}),
  };
  for (const auto& value : values) {
    INFO(value);
    auto npy = write_npy(value);
    REQUIRE(npy);
    auto back = read(*npy);
    INFO(back.status());
    REQUIRE(back);
    CHECK(identical(*back, value));
  }
}

TEST_CASE("tensors that NumPy's format cannot hold are refused") {
  CHECK_THAT(write_npy(tensor::scalar("a\0"s)).status().message(), Contains("zero byte"));
  CHECK_FALSE(write_npy(tensor{}));
}

TEST_CASE("files that are no arrays are refused with the reason") {
  auto error = [](const std::string& npy) { return read(npy).status().message(); };
  CHECK_THAT(error(""), Contains("does not begin"));
  CHECK_THAT(error("PK\3\4..........."), Contains("does not begin"));
  CHECK_THAT(error("\x93NUMPY\x09\x00\x00\x00"s), Contains("version 9"));
  CHECK_THAT(error("\x93NUMPY\x01\x00\xff\x00{"s), Contains("cut off"));
  CHECK_THAT(error("\x93NUMPY\x02\x00\xff\xff\xff\xff"s), Contains("cut off"));
  CHECK_THAT(error("\x93NUMPY\x01\x00"s), Contains("cut off"));
  CHECK_THAT(error(array("<f4", "(2,)", "1234")), Contains("[2] elements of 4 bytes"));
  CHECK_THAT(error(array("<f4", "()", "12345")), Contains("5 bytes"));
  CHECK_THAT(error(array("<f4", "(4611686018427387904,)", "")), Contains("bytes"));
  CHECK_THAT(error(array("<f4", "(-1,)", "")), Contains("-1"));
  CHECK_THAT(error(array("<f4", "(1,1,1,1,1,1,1,1,1)", "1234")), Contains("8"));
  CHECK_THAT(error(array("|S0", "(99999999999,)", "")), Contains("bytes"));
  CHECK_THAT(error(array("<U1", "()", "\xff\xff\xff\xff")), Contains("is not a character"));
  CHECK_THAT(error(array("<U1", "()", "\0\xd8\0\0"s)), Contains("is not a character"));
  for (auto descr : {"|O", "<f16", "<M8[s]", "<f3", "", "<", "|V8", "<f-4", "S99999999999"})
    CHECK_THAT(error(array(descr, "()", "")), Contains(concat("NumPy's '", descr, "'")));
  CHECK_THAT(error(file("{'descr': [('a', '<f4')], }", "")), Contains("records"));
  CHECK_THAT(error(file("{'descr': '<f4', 'shape': ()}", "1234")), Contains("lacks"));
  CHECK_THAT(error(file("{'x': 1}", "")), Contains("unknown key 'x'"));
  CHECK_THAT(error(file("{'shape': (1 2)}", "")), Contains("no ')' before '2)}'"));
  CHECK_THAT(error(file("{'shape': (1,", "")), Contains("no number"));
  CHECK_THAT(error(file("{'fortran_order': 1}", "")), Contains("neither True nor False"));
  CHECK_THAT(error(file("{'descr", "")), Contains("no text"));
  CHECK_THAT(error(file("{} x", "")), Contains("'x' follows"));
}

} // namespace
} // namespace troupe::test::npy_test
