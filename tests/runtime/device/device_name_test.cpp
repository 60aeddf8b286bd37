#include "tests/support/catch.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/device/preferred_device.hpp"

namespace troupe::test::device_name_test {

namespace {

std::string parsed(std::string_view text) {
  auto name = device_name::parse(text);
  return name ? to_string(*name) : name.status().message();
}

std::string merged(std::string_view a, std::string_view b) {
  auto joint = merge(*device_name::parse(a), *device_name::parse(b));
  return joint ? to_string(*joint) : joint.status().message();
}

} // namespace

TEST_CASE("device names are read whole or in part, in any order and in either spelling") {
  CHECK(parsed("") == "");
  CHECK(parsed("/job:ps") == "/job:ps");
  CHECK(parsed("/cpu:0") == "/device:cpu:0");
  CHECK(parsed("/device:GPU:1") == "/device:gpu:1");
  CHECK(parsed("/GPU:*") == "/device:gpu:*");
  CHECK(parsed("/cpu:2/task:3/job:worker") == "/job:worker/task:3/device:cpu:2");
  CHECK(parsed("/job:a/replica:0/task:1") == "/job:a/task:1");
  CHECK(device_name::parse("/job:a/task:0/cpu:0")->is_complete());
  CHECK_FALSE(device_name::parse("/job:a/task:0/cpu:*")->is_complete());
  CHECK(to_string(device_name::parse("/job:a/task:7/cpu:0")->name_of_task()) == "/job:a/task:7");
}

TEST_CASE("an invalid device name is refused with the faulty part and the reason") {
  CHECK(parsed("cpu:0") == "device 'cpu:0' must consist of parts such as /job:ps, /task:0, /cpu:0");
  CHECK(parsed("/cpu") == "device '/cpu': '/cpu' lacks a ':'");
  CHECK(parsed("/task:x") == "device '/task:x': 'x' is no number");
  CHECK(parsed("/task:-1") == "device '/task:-1': '-1' is no number");
  CHECK(parsed("/task:") == "device '/task:': '' is no number");
  CHECK(parsed("/task:99999999999") == "device '/task:99999999999': '99999999999' is no number");
  CHECK(parsed("/device:cpu") == "device '/device:cpu': write /device:cpu:0");
  CHECK(parsed("/device:tpu:0") ==
        "device '/device:tpu:0': there is no kind of device 'tpu', only cpu and gpu");
  CHECK(parsed("/job:") == "device '/job:': the job has no name");
  CHECK(parsed("/replica:1") == "device '/replica:1': there is only replica 0");
  CHECK(parsed("/rack:1") == "device '/rack:1': the part '/rack:1' is unknown; parts are /job:, "
                             "/task:, /device:, /cpu:, /gpu:");
}

TEST_CASE("a partial name matches every device that it does not contradict") {
  auto full_name = *device_name::parse("/job:ps/task:1/cpu:0");
  for (auto text : {"", "/job:ps", "/task:1", "/cpu:0", "/cpu:*", "/job:ps/task:1/cpu:0"})
    CHECK(device_name::parse(text)->matches(full_name));
  for (auto text : {"/job:worker", "/task:0", "/gpu:0", "/gpu:*", "/cpu:1"})
    CHECK_FALSE(device_name::parse(text)->matches(full_name));
}

TEST_CASE("partial names merge unless they contradict each other") {
  CHECK(merged("/job:ps", "/cpu:0") == "/job:ps/device:cpu:0");
  CHECK(merged("/task:1", "/task:1/gpu:*") == "/task:1/device:gpu:*");
  CHECK(merged("/gpu:*", "/gpu:2") == "/device:gpu:2");
  for (auto [a, b] : {std::pair{"/job:a", "/job:b"},
                      {"/task:0", "/task:1"},
                      {"/cpu:0", "/gpu:0"},
                      {"/cpu:0", "/cpu:1"}}) {
    CHECK(merged(a, b).ends_with("contradict each other"));
    CHECK(merged(b, a).ends_with("contradict each other"));
  }
}

TEST_CASE("parts of a device that are preferred are marked, and recognized alone") {
  CHECK(preferred_device("/job:ps/replica:0/task:1/device:GPU:0") ==
        "/job:ps?/replica:0?/task:1?/device:GPU:0?");
  CHECK(preferred_device("/job:localhost/replica:0/task:0/device:CPU:0") == "/device:CPU:0?");
  CHECK(preferred_device("/job:localhost") == "");
  CHECK(preferred_device("/job:localhost/task:1") == "/job:localhost?/task:1?");
  CHECK(preferred_device("/device:TPU:3") == "/device:TPU:3?");
  CHECK(preferred_device("") == "");
  CHECK(preferred_device("no device") == "no device");
  CHECK(parsed("/job:ps?/gpu:0?") == "/job:ps/device:gpu:0");
  CHECK(plain_device("/job:ps?/task:1/device:GPU:0?") == "/job:ps/task:1/device:GPU:0");
  CHECK(to_string(required_device("/job:ps?/task:1/device:GPU:0?")) == "/task:1");
  CHECK(task_of_device("/job:ps?/task:1/device:GPU:0?") == "/job:ps?/task:1");
}

TEST_CASE("a preferred device takes the missing parts from the enclosing scope") {
  CHECK(device_in_scope("", "/job:ps") == "/job:ps");
  CHECK(device_in_scope("/gpu:0", "/job:ps") == "/gpu:0");
  CHECK(device_in_scope("/gpu:0?", "/job:ps/task:1/cpu:0") == "/job:ps/task:1/gpu:0?");
  CHECK(device_in_scope("/job:worker?/gpu:0?", "/job:ps/task:1") == "/job:worker?/gpu:0?");
  CHECK(device_in_scope("/gpu:0?", "") == "/gpu:0?");
}

} // namespace troupe::test::device_name_test
