// Forward declarations of classes of actors/ that several of its rooms refer to.
#pragma once

namespace troupe {

class caller_unit;
class conductor_actor;
class region_actor;
class step_observer;
class step_server;
class step_table;
class task_instance;
class task_program;
struct prepared_state;
struct waitable_stats;

} // namespace troupe
