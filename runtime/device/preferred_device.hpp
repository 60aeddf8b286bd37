// Devices that a node prefers: a part of a name that ends with '?' gives way where no such device
// is there, as in "/job:worker/device:gpu:0?". Nodes that are read from files of other systems have
// such parts (docs/placement.md).
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// The job of the only task of a local session.
inline constexpr std::string_view local_job = "local";

/// The device of a node of TensorFlow's, each part preferred. "/job:localhost/replica:0/task:0" is
/// left out: TensorFlow calls the process at hand so. A text that is no name of a device stays as
/// it is, and is an error when the node is placed.
std::string preferred_device(std::string_view text);

/// The name without the marks, as other systems know it.
std::string plain_device(std::string_view text);

/// The parts that must be fulfilled. Requires a text that device_name::parse() reads.
device_name required_device(std::string_view text);

/// The parts that name a task, with their marks.
std::string task_of_device(std::string_view text);

/// A node's device in a scope: a preferred device leaves the task to the scope where it names none.
std::string device_in_scope(std::string device, const std::string& scope);

} // namespace troupe
