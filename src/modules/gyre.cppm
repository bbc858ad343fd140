// src/modules/gyre.cppm: the module gyre, which exports the names of gyre.hpp and http.hpp. Written by
// tools/module_interface.py; see docs/guide/installing.md for its use.
module;

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

export module gyre;

export namespace gyre {
using gyre::abort_unless_whole, gyre::abortable_stream, gyre::accept_base, gyre::accept_descriptor_op;
using gyre::accept_for_loops, gyre::accept_mode, gyre::accept_op, gyre::address, gyre::any_stream, gyre::as_completed;
using gyre::as_expected, gyre::as_operand, gyre::as_result, gyre::as_task, gyre::as_untaken_task, gyre::async_generator;
using gyre::async_scope, gyre::await_for_element, gyre::await_given_handle, gyre::await_handle, gyre::await_it;
using gyre::await_result, gyre::await_untaken, gyre::awaitable_value, gyre::awaited_callback, gyre::awaiter_of;
using gyre::background_failure, gyre::barrier, gyre::barrier_wait_op, gyre::basic_queue, gyre::blocking_run;
using gyre::bounded_semaphore, gyre::broadcast, gyre::broadcast_item, gyre::broadcast_receive_op;
using gyre::broadcast_subscription, gyre::broken_barrier, gyre::buffer_lease, gyre::bulk_between, gyre::byte_stream;
using gyre::call_in_frame, gyre::call_it, gyre::call_stack, gyre::call_stack_of, gyre::call_stack_op;
using gyre::call_stack_trace, gyre::callback_dropped, gyre::callback_failed_without_error, gyre::callback_state;
using gyre::called_function, gyre::can_give_back, gyre::cancel_scope, gyre::cancellable, gyre::cancelled;
using gyre::chain_op, gyre::chainable_before_another, gyre::chainable_operation, gyre::channel, gyre::channel_closed;
using gyre::channel_receive_op, gyre::channel_send_op, gyre::channel_words, gyre::check_woken_on_own_loop;
using gyre::child_tasks, gyre::children_ended_op, gyre::children_wait_op, gyre::choosing, gyre::coalesced_segment_size;
using gyre::condition_variable, gyre::condition_wait_op, gyre::connect_options, gyre::connect_to_first;
using gyre::connection_shares, gyre::consumed_by_await, gyre::converted_to, gyre::copied_both_ways, gyre::copy;
using gyre::copy_and_end, gyre::copy_bidirectional, gyre::copy_to_end, gyre::core_count, gyre::counting_semaphore;
using gyre::current_task, gyre::current_task_op, gyre::datagram_control_room, gyre::datagram_lease;
using gyre::datagram_lease_base, gyre::datagram_lease_op, gyre::datagram_receive_base, gyre::datagram_receive_op;
using gyre::datagram_send_base, gyre::datagram_send_op, gyre::datagram_socket, gyre::datagram_state;
using gyre::deadline_after, gyre::deadline_at, gyre::delete_target, gyre::destroy_frame, gyre::destroy_nested;
using gyre::duration_limit, gyre::end_thread_pools, gyre::end_watch, gyre::ending_order, gyre::environment_with;
using gyre::event, gyre::event_loop, gyre::event_wait_op, gyre::exception_collector, gyre::exception_group;
using gyre::exit_status, gyre::expect_ended, gyre::expect_scope_on_own_loop, gyre::expected_op;
using gyre::explain_usable_cores, gyre::fallible_operation, gyre::fewer_children_op, gyre::fifo_storage;
using gyre::first_character, gyre::first_n, gyre::first_n_result, gyre::for_each_concurrent, gyre::for_each_loop;
using gyre::frame_base, gyre::frame_pool, gyre::from_callback, gyre::from_callback_op, gyre::future;
using gyre::future_wait_op, gyre::gather, gyre::gather_element, gyre::gather_options, gyre::gather_result;
using gyre::gather_tasks, gyre::gathering, gyre::generator, gyre::given_handle, gyre::granted, gyre::guest_loop;
using gyre::gyre_awaitable, gyre::half_closable_stream, gyre::handed_call, gyre::handed_work;
using gyre::happy_eyeballs_options, gyre::held_element, gyre::held_result, gyre::held_value, gyre::host_port;
using gyre::ignore_partial_results, gyre::ignores_cancel, gyre::incomplete_transfer, gyre::interface_name;
using gyre::interleave_families, gyre::interval, gyre::interval_tick_op, gyre::io_error, gyre::io_operation;
using gyre::is_in_library, gyre::item_get_op, gyre::item_passage, gyre::item_put_op, gyre::join_op;
using gyre::join_or_cancel, gyre::kept_client, gyre::latch, gyre::latch_wait_op, gyre::leading_character;
using gyre::lending_stream, gyre::lent_bindings, gyre::lifo_queue, gyre::lifo_storage, gyre::linger_limits;
using gyre::listen_and_serve, gyre::listen_on_loops, gyre::listen_options, gyre::listener_state, gyre::lookup_result;
using gyre::loop_for, gyre::loop_group, gyre::loop_local, gyre::loop_local_slot, gyre::loop_of, gyre::loop_options;
using gyre::loop_results, gyre::loop_results_of, gyre::loops_to_serve_on, gyre::make_connection, gyre::make_error_code;
using gyre::make_to_thread_op, gyre::max_passed_descriptors, gyre::max_socket_address_size, gyre::memory_pair;
using gyre::memory_stream, gyre::missed_ticks, gyre::misuse, gyre::misuse_of_awaited, gyre::misuse_of_closed;
using gyre::misuse_remark, gyre::must_be_awaited, gyre::mutex, gyre::mutex_guard, gyre::mutex_guard_op;
using gyre::mutex_lock_op, gyre::mutex_wait_op, gyre::natural_order, gyre::no_cancel_hook, gyre::node_list;
using gyre::not_an_operation, gyre::notified_waiter, gyre::now, gyre::object_name, gyre::on, gyre::on_op, gyre::oneshot;
using gyre::oneshot_receive_op, gyre::oneshot_receiver, gyre::oneshot_sender, gyre::oneshot_state;
using gyre::open_connection, gyre::open_pipe, gyre::open_unix_connection, gyre::operand_result, gyre::operand_result_of;
using gyre::operation, gyre::operation_base, gyre::operator&&, gyre::outcome_teller, gyre::owned, gyre::owned_fd;
using gyre::owner_loop, gyre::owner_loop_of, gyre::passed_descriptors_room, gyre::peer_credentials, gyre::peer_text;
using gyre::pipe_descriptors, gyre::place_of_wait, gyre::pooled, gyre::print_call_stack, gyre::print_diagnostic;
using gyre::print_waiting_tasks, gyre::printable, gyre::priority_queue, gyre::priority_storage, gyre::process;
using gyre::process_options, gyre::process_result, gyre::process_timed_out, gyre::promise, gyre::promise_state;
using gyre::queue, gyre::queue_get_op, gyre::queue_join_op, gyre::queue_put_op, gyre::queue_shut_down;
using gyre::queue_shutdown_mode, gyre::queue_words, gyre::queued_operation, gyre::race, gyre::race_result;
using gyre::race_tasks, gyre::race_value, gyre::racing, gyre::raw_op, gyre::raw_operation, gyre::raw_result;
using gyre::readable, gyre::readable_stream, gyre::readiness_op, gyre::receive_descriptors_op, gyre::received_datagram;
using gyre::received_descriptors, gyre::redirect, gyre::reference_to, gyre::release, gyre::remote_call;
using gyre::remote_result, gyre::report_lost_item, gyre::request_stop, gyre::resolve, gyre::resolve_options;
using gyre::resolver_category, gyre::restored, gyre::result_owns_grant, gyre::run, gyre::run_coroutine_threadsafe;
using gyre::run_expected, gyre::run_for_each, gyre::run_given, gyre::run_in_timeout, gyre::run_limited, gyre::run_main;
using gyre::run_on, gyre::run_on_into, gyre::run_options, gyre::run_process, gyre::run_scope, gyre::run_shielded;
using gyre::runtime, gyre::runtime_options, gyre::scope_count, gyre::scope_exit, gyre::secure_session;
using gyre::secure_session_owner, gyre::secure_sessions, gyre::security, gyre::semaphore_acquire_op;
using gyre::semaphore_permit, gyre::semaphore_permit_op, gyre::semaphore_wait_op, gyre::send_descriptors_op;
using gyre::send_file_op, gyre::sender_dropped, gyre::serve_clients, gyre::serve_options, gyre::served_connections;
using gyre::share_room_op, gyre::shared, gyre::shared_channel, gyre::shared_channel_state, gyre::shared_line;
using gyre::shared_lock, gyre::shared_lock_guard, gyre::shared_mutex, gyre::shared_mutex_guard;
using gyre::shared_mutex_guard_op, gyre::shared_mutex_lock_op, gyre::shared_operation, gyre::shared_outcome;
using gyre::shared_outcome_base, gyre::shared_receive_op, gyre::shared_receive_slot, gyre::shared_send_op;
using gyre::shared_send_slot, gyre::shared_stream, gyre::shared_target, gyre::shared_task, gyre::shared_task_handle;
using gyre::shared_waiter, gyre::shares_reference, gyre::shield, gyre::shielded_task, gyre::shielding, gyre::signal_op;
using gyre::signal_set, gyre::sleep, gyre::sleep_op, gyre::sleep_until, gyre::sleeping_thread, gyre::socket_bulk;
using gyre::socket_bulk_receive_op, gyre::socket_bulk_write_op, gyre::socket_close_op, gyre::socket_next_op;
using gyre::socket_read_op, gyre::socket_receive_op, gyre::socket_shutdown_op, gyre::socket_state, gyre::socket_stream;
using gyre::socket_write_base, gyre::socket_write_op, gyre::socket_write_vector_op, gyre::source_link;
using gyre::source_links, gyre::spawn, gyre::spawn_on, gyre::spawn_options, gyre::spawn_then, gyre::start_server;
using gyre::start_unix_server, gyre::started_at, gyre::started_by_program_at, gyre::stop_authority;
using gyre::stop_aware_stream, gyre::stop_destroyed_elsewhere, gyre::stop_level, gyre::stop_observer;
using gyre::stop_observers, gyre::stop_on_other_loop, gyre::stop_requested, gyre::stop_requested_op, gyre::stop_role;
using gyre::stop_without_loop, gyre::storable, gyre::storable_as, gyre::stream_category, gyre::stream_connection;
using gyre::stream_errc, gyre::stream_listener, gyre::stream_reader, gyre::stream_writer, gyre::sync_errc;
using gyre::sync_error, gyre::take_if_winner, gyre::take_result_of, gyre::take_wrapped;
using gyre::takes_part_in_stops_or_not, gyre::task, gyre::task_cancelled, gyre::task_context, gyre::task_description;
using gyre::task_function, gyre::task_group, gyre::task_handle, gyre::task_kind, gyre::task_local;
using gyre::task_local_binding, gyre::task_owner, gyre::task_promise_base, gyre::task_reference, gyre::task_result;
using gyre::task_state, gyre::task_watcher, gyre::tasks_ended_op, gyre::tcp_listener, gyre::tcp_stream, gyre::this_task;
using gyre::this_task_context, gyre::thread_function, gyre::thread_pool, gyre::throw_cancelled, gyre::throw_timed_out;
using gyre::time_limit_passed, gyre::time_point, gyre::time_point_limit, gyre::timed_out, gyre::timeout;
using gyre::timeout_at, gyre::timeout_op, gyre::timeout_scope, gyre::timer, gyre::timer_wheel, gyre::to_thread;
using gyre::to_thread_op, gyre::udp_options, gyre::udp_socket, gyre::unbounded_lifo_queue;
using gyre::unbounded_priority_queue, gyre::unbounded_queue, gyre::uninterrupted_join_op, gyre::unix_address;
using gyre::unix_datagram, gyre::unix_datagram_pair, gyre::unix_listen_options, gyre::unix_listener, gyre::unix_stream;
using gyre::unix_stream_pair, gyre::usable_cores, gyre::value_or_throw, gyre::via, gyre::via_op, gyre::void_result;
using gyre::wait, gyre::wait_for, gyre::wait_for_limit, gyre::wait_node, gyre::wait_queue, gyre::wait_queue_of;
using gyre::wait_result, gyre::wait_until, gyre::was_truncated, gyre::watch, gyre::watch_changed_op, gyre::watcher;
using gyre::whole_nanoseconds, gyre::work_dropped, gyre::work_executor, gyre::wrap_void, gyre::wrap_void_in;
using gyre::writable, gyre::writable_stream, gyre::write_diagnostic, gyre::write_kind, gyre::write_limits, gyre::yield;
using gyre::yield_op, gyre::yield_turn;
}  // namespace gyre

export namespace gyre::fs {
using gyre::fs::change, gyre::fs::change_kind, gyre::fs::copy, gyre::fs::copy_options, gyre::fs::copy_progress;
using gyre::fs::create_directory, gyre::fs::create_symlink, gyre::fs::directory, gyre::fs::directory_entry;
using gyre::fs::extent, gyre::fs::facts_of, gyre::fs::file, gyre::fs::file_close_op, gyre::fs::file_facts;
using gyre::fs::file_kind, gyre::fs::file_op, gyre::fs::file_operation, gyre::fs::file_state, gyre::fs::file_time;
using gyre::fs::file_transfer_base, gyre::fs::file_transfer_op, gyre::fs::file_vector_op, gyre::fs::for_appending;
using gyre::fs::for_reading, gyre::fs::for_writing, gyre::fs::list_directory, gyre::fs::open_op, gyre::fs::open_options;
using gyre::fs::open_pipe, gyre::fs::path_op, gyre::fs::path_operation, gyre::fs::pipe_files, gyre::fs::read_all;
using gyre::fs::remove, gyre::fs::remove_directory, gyre::fs::rename, gyre::fs::request_offset;
using gyre::fs::standard_error, gyre::fs::standard_input, gyre::fs::standard_output, gyre::fs::stat;
using gyre::fs::stat_link, gyre::fs::status, gyre::fs::status_op, gyre::fs::watcher, gyre::fs::write_all_to;
using gyre::fs::write_options;
}  // namespace gyre::fs

export namespace gyre::http {
using gyre::http::access_log, gyre::http::access_log_options, gyre::http::append_event, gyre::http::append_field_line;
using gyre::http::ask_check, gyre::http::authentication_result, gyre::http::authentication_verdict;
using gyre::http::available_codings, gyre::http::basic_authentication, gyre::http::basic_credentials;
using gyre::http::bearer_authentication, gyre::http::bearer_credentials, gyre::http::bearer_state;
using gyre::http::body_decoder, gyre::http::body_kind, gyre::http::body_producer, gyre::http::body_reader;
using gyre::http::body_sink, gyre::http::body_source, gyre::http::body_writer, gyre::http::byte_range;
using gyre::http::challenge, gyre::http::check_field, gyre::http::choose_coding, gyre::http::choose_media_type;
using gyre::http::chunk_limits, gyre::http::chunked_decoder, gyre::http::client_of, gyre::http::compress;
using gyre::http::compress_options, gyre::http::content_range, gyre::http::cookie, gyre::http::cookie_range;
using gyre::http::cors, gyre::http::cors_options, gyre::http::current_trace, gyre::http::date_cache;
using gyre::http::decode_base64, gyre::http::describe, gyre::http::encode_base64, gyre::http::encode_for;
using gyre::http::encode_reference, gyre::http::entity_tag, gyre::http::equal_ignoring_case, gyre::http::equal_secrets;
using gyre::http::essence_of, gyre::http::evaluate_preconditions, gyre::http::event_stream;
using gyre::http::event_stream_body, gyre::http::event_stream_options, gyre::http::event_writer, gyre::http::exchange;
using gyre::http::exchange_observer, gyre::http::failed_handshake, gyre::http::field, gyre::http::file_response;
using gyre::http::file_response_below, gyre::http::file_version, gyre::http::find_basic_credentials;
using gyre::http::find_bearer_token, gyre::http::find_cookie, gyre::http::find_field, gyre::http::find_parameter;
using gyre::http::form_error, gyre::http::form_field, gyre::http::format_date, gyre::http::format_set_cookie;
using gyre::http::framing, gyre::http::handler, gyre::http::handler_timeout, gyre::http::handler_timeout_options;
using gyre::http::handshake_observer, gyre::http::harmless_file_name, gyre::http::head_limits, gyre::http::head_parser;
using gyre::http::head_writer, gyre::http::hex_value, gyre::http::is_bodyless, gyre::http::is_compressible;
using gyre::http::is_control, gyre::http::is_digit, gyre::http::is_field_value, gyre::http::is_letter;
using gyre::http::is_request_id, gyre::http::is_settled, gyre::http::is_space, gyre::http::is_token;
using gyre::http::json_readable, gyre::http::json_writable, gyre::http::last_event_id, gyre::http::log_format;
using gyre::http::make_entity_tag, gyre::http::make_request_id, gyre::http::may_be_trailer, gyre::http::media_type_of;
using gyre::http::middleware, gyre::http::middleware_function, gyre::http::multipart_boundary;
using gyre::http::multipart_decoder, gyre::http::multipart_error, gyre::http::multipart_limits;
using gyre::http::multipart_part, gyre::http::multipart_reader, gyre::http::name_of, gyre::http::next_cookie;
using gyre::http::next_handler, gyre::http::next_in_list, gyre::http::normalize_path, gyre::http::number_from_text;
using gyre::http::number_of, gyre::http::parse_basic_credentials, gyre::http::parse_date, gyre::http::parse_entity_tag;
using gyre::http::parse_error, gyre::http::parse_field_line, gyre::http::parse_form, gyre::http::parse_length;
using gyre::http::parse_range, gyre::http::parse_state, gyre::http::parse_weight, gyre::http::password_check;
using gyre::http::percent_decode, gyre::http::percent_encode, gyre::http::precondition, gyre::http::prompt_handler;
using gyre::http::protocol_handler, gyre::http::range_applies, gyre::http::range_kind, gyre::http::range_request;
using gyre::http::rate_limit, gyre::http::rate_limit_options, gyre::http::real_from_text, gyre::http::reason_phrase;
using gyre::http::request, gyre::http::request_function, gyre::http::request_id, gyre::http::request_id_options;
using gyre::http::resource_state, gyre::http::response, gyre::http::route_factory, gyre::http::router;
using gyre::http::same_site_policy, gyre::http::serve, gyre::http::server, gyre::http::server_event;
using gyre::http::server_limits, gyre::http::server_options, gyre::http::server_timeouts, gyre::http::set_cookie;
using gyre::http::shared_connection_count, gyre::http::signed_from_text, gyre::http::split_target;
using gyre::http::started_response, gyre::http::static_files, gyre::http::static_files_options;
using gyre::http::status_error, gyre::http::status_for, gyre::http::strongly_equal, gyre::http::target_parts;
using gyre::http::to_lower, gyre::http::token_buckets, gyre::http::token_check, gyre::http::too_many_requests;
using gyre::http::trace_context, gyre::http::trace_requests, gyre::http::trim, gyre::http::understand_request;
using gyre::http::understand_response, gyre::http::unix_seconds, gyre::http::unsatisfied_range;
using gyre::http::unsigned_from_text, gyre::http::value_from_text, gyre::http::version, gyre::http::weakly_equal;
}  // namespace gyre::http

export namespace gyre::io {
using gyre::io::backend, gyre::io::backend_choice, gyre::io::backend_kind, gyre::io::backend_options;
using gyre::io::backend_owner, gyre::io::blocking_job, gyre::io::blocking_pool, gyre::io::buffer_pool;
using gyre::io::bulk_size, gyre::io::completion, gyre::io::concerns_file, gyre::io::const_buffer, gyre::io::descriptor;
using gyre::io::do_not_wait, gyre::io::file_request, gyre::io::forked_backend, gyre::io::found_no_room;
using gyre::io::is_multishot, gyre::io::make_backend, gyre::io::message, gyre::io::message_header;
using gyre::io::message_multishot, gyre::io::message_view, gyre::io::monotonic_time, gyre::io::multishot;
using gyre::io::mutable_buffer, gyre::io::opcode, gyre::io::perform, gyre::io::perform_without_signal, gyre::io::phase;
using gyre::io::pipe_pool, gyre::io::process_backend_choice, gyre::io::raw_request, gyre::io::reads;
using gyre::io::ready_list, gyre::io::receive_message_into, gyre::io::receive_queue, gyre::io::refused_entry_flags;
using gyre::io::request, gyre::io::transfer_at, gyre::io::unnamed_descriptor, gyre::io::view_message;
using gyre::io::wait_forever, gyre::io::working_directory;
}  // namespace gyre::io
