// Preferred devices of nodes. A part of a device name that ends with '?' is ignored if no such
// device exists, as in "/job:worker/device:gpu:0?". Nodes read from files of other systems have
// such parts (docs/placement.md).
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// The job of the only task of a local session.
inline constexpr std::string_view local_job = "local";

/// Converts a device name of a TensorFlow node into one whose parts are all preferred.
/// "/job:localhost/replica:0/task:0" is removed, because TensorFlow calls the current process so. A
/// text that is no device name is returned unchanged and causes an error when the node is placed.
std::string preferred_device(std::string_view text);

/// Returns the name without the marks, as other systems write it.
std::string plain_device(std::string_view text);

/// Returns the required parts of a name that device_name::parse() accepts.
device_name required_device(std::string_view text);

/// Returns the parts that name a task, with their marks.
std::string task_of_device(std::string_view text);

/// Returns a node's device in a scope. A preferred device without a task takes the scope's task.
std::string device_in_scope(std::string device, const std::string& scope);

} // namespace troupe
