#include "troupe/runtime/insight/inspection_ref.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::inspection_ref_test {

TEST_CASE("a ref is read as it is written, for any characters in its names") {
  inspection_ref ref = inspection_ref::of({"ps", 3}) / ref_part{"container", ""} /
                       ref_part{"variable", "hidden/weights 100%"};
  CHECK(to_string(ref) == "/job:ps/task:3/container:/variable:hidden%2Fweights%20100%25");
  auto parsed = inspection_ref::parse(to_string(ref));
  REQUIRE(parsed.ok());
  CHECK(*parsed == ref);
  CHECK(parsed->task() == task_name{"ps", 3});
  CHECK(parsed->within_task().size() == 2);
}

TEST_CASE("names of tasks and devices are refs") {
  auto device = inspection_ref::parse("/job:worker/task:1/device:cpu:0");
  REQUIRE(device.ok());
  CHECK(device->task() == task_name{"worker", 1});
  CHECK(device->within_task()[0] == ref_part{"device", "cpu:0"});
}

TEST_CASE("the root is a slash, or nothing") {
  for (auto text : {"", "/"}) {
    auto root = inspection_ref::parse(text);
    REQUIRE(root.ok());
    CHECK(root->parts.empty());
    CHECK(to_string(*root) == "/");
    CHECK(!root->task());
  }
}

TEST_CASE("a text that is not a ref is refused with a reason") {
  for (auto text : {"//", "/job", "/:x", "/Job:a", "/job:%", "/job:%g0", "/job:a//task:0"}) {
    INFO(text);
    auto ref = inspection_ref::parse(text);
    REQUIRE(!ref.ok());
    CHECK(ref.status().kind() == error_kind::invalid_argument);
  }
  CHECK(!inspection_ref::parse(std::string(5000, 'a')).ok());
  CHECK(!inspection_ref::parse("/a:/a:/a:/a:/a:/a:/a:/a:/a:").ok());
  CHECK(!inspection_ref::parse("/job:a/task:-1")->task());
  CHECK(!inspection_ref::parse("/job:a/task:99999999999")->task());
}

} // namespace troupe::test::inspection_ref_test
