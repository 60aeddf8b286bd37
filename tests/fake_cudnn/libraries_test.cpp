// Libraries that are loaded when they are first used: missing ones, missing functions, codes.
#include "tests/support/catch.hpp"
#include "troupe/devices/gpu/cuda/libraries.hpp"

namespace troupe::test::libraries_test {

namespace {

error_kind kind_in_math(int code) {
  return code == 2 ? error_kind::resource_exhausted : error_kind::internal;
}

} // namespace

TEST_CASE("a missing library is an error that names the package") {
  gpu::library missing{"Absent", "libtroupe_absent.so.7", "Absent 7", nullptr, kind_in_math};
  for (int i = 0; i < 2; ++i) { // the failure to load is remembered
    auto function = missing.find("absentCreate");
    REQUIRE_FALSE(function);
    CHECK(function.status().kind() == error_kind::failed_precondition);
    auto message = function.status().message();
    CHECK(message.find("needs Absent, but libtroupe_absent.so.7 cannot be loaded") !=
          std::string::npos);
    CHECK(message.find("install Absent 7") != std::string::npos);
  }
}

TEST_CASE("a function that a library lacks is an error that names both") {
  gpu::library math{"Math", "libm.so.6", "the C library", nullptr, kind_in_math};
  CHECK(math.find("cos"));
  auto function = math.find("troupe_absent");
  REQUIRE_FALSE(function);
  CHECK(function.status().kind() == error_kind::failed_precondition);
  CHECK(function.status().message().find("needs troupe_absent, which libm.so.6 does not have") !=
        std::string::npos);
}

TEST_CASE("a code of a library without explanations is a number") {
  gpu::library math{"Math", "libm.so.6", "the C library", nullptr, kind_in_math};
  CHECK(math.check(0, "mathCreate").ok());
  auto code = math.check(2, "mathCreate");
  CHECK(code.kind() == error_kind::resource_exhausted);
  CHECK(code.message() == "Math: mathCreate: error 2, which its header explains");
  CHECK(math.check(3, "mathCreate").kind() == error_kind::internal);
}

TEST_CASE("a code of a library with explanations has their text") {
  // The C library describes its codes in a function of the form that CUDA's libraries have.
  gpu::library system{"System", "libc.so.6", "the C library", "strerror", kind_in_math};
  CHECK(system.check(2, "systemOpen").message() ==
        "System: systemOpen: error 2, No such file or directory");
  gpu::library unexplained{"System", "libc.so.6", "the C library", "troupe_absent", kind_in_math};
  CHECK(unexplained.check(2, "systemOpen").message() ==
        "System: systemOpen: error 2, which it does not explain");
}

TEST_CASE("codes of CUDA's libraries are mapped to kinds") {
  for (auto* library : {&gpu::cublas(), &gpu::cublas_lt()}) {
    CHECK(library->check(3, "create").kind() == error_kind::resource_exhausted);
    CHECK(library->check(15, "create").kind() == error_kind::unimplemented);
    CHECK(library->check(7, "create").kind() == error_kind::internal);
  }
  for (int code : {4003, 4004})
    CHECK(gpu::cudnn().check(code, "create").kind() == error_kind::resource_exhausted);
  for (int code : {2000, 2002, 3000})
    CHECK(gpu::cudnn().check(code, "create").kind() == error_kind::unimplemented);
  CHECK(gpu::cudnn().check(1001, "create").kind() == error_kind::internal);
  CHECK(gpu::cusolver().check(2, "create").kind() == error_kind::resource_exhausted);
  CHECK(gpu::cusolver().check(1, "create").kind() == error_kind::internal);
  CHECK(gpu::nvrtc().check(5, "create").kind() == error_kind::internal);
  CHECK(gpu::nccl().check(5, "create").kind() == error_kind::internal);
}

} // namespace troupe::test::libraries_test
