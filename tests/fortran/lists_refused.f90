! SPDX-License-Identifier: BSD-2-Clause
! Errors about entries of lists count from 1, as the caller does, or have the line that says how they count; and a list that is a
! text may be long.
program lists_refused
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  character(len=*), parameter :: counts_from_0 = 'are those of C: counted from 0'
  type(tenon_index_map) :: nodes, cells
  type(tenon_layout) :: plain, ghosted
  type(tenon_edges) :: edges
  type(tenon_layer) :: net, layer
  type(tenon_dtensor) :: parameter
  character(len=:), allocatable :: text
  integer :: rank, ranks, k, ierr, node
  call MPI_Init()
  call tenon_initialize()
  call tenon_push_error_handler(tenon_return_error_handler)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_index_map_create_from_ids(MPI_COMM_WORLD, 8, [(8*rank + k, k=1, 8), 8*modulo(rank + 1, ranks) + 1], nodes)
  call tenon_index_map_get_layouts(nodes, [3, 0], plain, ghosted)

  ! The entry is wrong on the last rank alone; all ranks fail.
  call tenon_edges_create(nodes, nodes, [merge(9, 8, rank == ranks - 1), 2], [1, 3], edges, ierr=ierr)
  call expect(TENON_ERR_ARG, 'target[0]', counts_from_0)
  call tenon_edges_create(nodes, nodes, [1, 2], [1, merge(0, 3, rank == ranks - 1)], edges, ierr=ierr)
  if (rank == ranks - 1) then
    call expect(TENON_ERR_ARG, 'source(2) is 0; indices are counted from 1 in Fortran')
  else
    call expect(TENON_ERR_ARG, 'source[1]', counts_from_0)
  end if
  call tenon_index_map_create_cells(plain, plain, [0, 1], [0], [1], cells, ierr=ierr)
  call expect(TENON_ERR_ARG, 'target(1) is 0; indices are counted from 1 in Fortran')
  call tenon_index_map_create_cells(plain, plain, [0, 1], [1], [8*ranks + 1], cells, ierr=ierr)
  call expect(TENON_ERR_ARG, 'source[0]', counts_from_0)

  call tenon_layer_create_graph(MPI_COMM_WORLD, net)
  call tenon_layer_create_type(MPI_COMM_WORLD, 'tanh', layer)
  call tenon_layer_graph_add_node(net, layer, [-1], node)
  call tenon_layer_graph_add_node(net, layer, [0], node, ierr=ierr)
  call expect(TENON_ERR_ARG, 'inputs(1) is 0; nodes are counted from 1 in Fortran, and inputs of the graph are -1, -2, ...')
  call tenon_layer_graph_add_node(net, layer, [7], node, ierr=ierr)
  call expect(TENON_ERR_ARG, 'no node or input 6', counts_from_0)
  call tenon_layer_graph_add_node(net, layer, [-2], node, ierr=ierr)
  call expect(TENON_ERR_ARG, 'inputs -1, -2, ... (now 1, the setting input_count)')
  call tenon_destroy(layer)
  call tenon_destroy(net)

  call tenon_layer_create_column_mlp(MPI_COMM_WORLD, [3, 8, 3], net, 'tanh')
  call tenon_layer_set_up(net, plain)
  call tenon_layer_get_parameter(net, 0, parameter, ierr=ierr)
  call expect(TENON_ERR_ARG, 'index is 0; it is counted from 1 in Fortran')
  call tenon_layer_get_parameter(net, 9, parameter, ierr=ierr)
  call expect(TENON_ERR_ARG, 'parameter index 8 is out of range', counts_from_0)
  call tenon_destroy(net)
  call long_text()
  call order_of_c()

  call tenon_destroy(plain)
  call tenon_destroy(ghosted)
  call tenon_destroy(nodes)
  call tenon_pop_error_handler()
  call tenon_finalize()
  call MPI_Finalize()
contains
  ! Modes of the dimensions of 50,000 channels, of which each dimension has its own.
  subroutine long_text()
    integer, parameter :: channels = 50000
    character(len=:), allocatable :: modes
    call tenon_layer_create_type(MPI_COMM_WORLD, 'conv', layer)
    modes = repeat('odd,', 2*channels - 1)//'even'
    call tenon_set_text(layer, 'boundary', modes, ierr=ierr)
    if (ierr == TENON_SUCCESS) then
      call tenon_get_text(layer, 'boundary', text)
      if (text /= modes) error stop 'the text is not what was set'
    end if
    call tenon_set_text(layer, 'boundary', 'odd,periodic;1=zero,even', ierr=ierr)
    call tenon_get_text(layer, 'boundary', text)
    if (ierr == TENON_SUCCESS .and. text /= 'odd,periodic;1=zero,even') error stop 'other lists: '//text
    call tenon_destroy(layer)
  end subroutine long_text

  ! Arguments that can be left out follow the others; in the order of C they are refused, with the order of Fortran.
  subroutine order_of_c()
    real(real64) :: difference
    logical :: found
    integer :: number
    call tenon_layer_create_column_mlp(MPI_COMM_WORLD, [3, 8, 3], 'tanh', layer, ierr=ierr)
    call expect(TENON_ERR_ARG, 'the arguments are in the order of C; in Fortran those that can be left out follow the others: '// &
      'tenon_layer_create_column_mlp(comm, widths, layer [, activation])')
    call tenon_layer_create_column_mlp(MPI_COMM_WORLD%MPI_VAL, [3, 8, 3], 'tanh', layer, ierr)
    call expect(TENON_ERR_ARG, 'are in the order of C')
    call tenon_layer_test_adjoint(net, parameter, 7, relative=difference, ierr=ierr)
    call expect(TENON_ERR_ARG, 'tenon_layer_test_adjoint(layer, seed [, x] [, tangent] [, adjoint] [, relative])')
    call tenon_layer_test_taylor(net, parameter, 7_int64, ierr=ierr)
    call expect(TENON_ERR_ARG, 'tenon_layer_test_taylor(layer, seed [, x] [, order] [, remainder])')
    call tenon_edges_create(nodes, nodes, [1], [1], [1], [1.0_real64], edges, ierr)
    call expect(TENON_ERR_ARG, 'tenon_edges_create(targets, sources, target, source, edges [, keys] [, weights])')
    call tenon_options_get_flag('', 'name', found, ierr)
    call expect(TENON_ERR_ARG, 'tenon_options_get_flag(name, value [, prefix])')
    call tenon_options_get_int('', 'name', number, ierr)
    call expect(TENON_ERR_ARG, 'tenon_options_get_int(name, value [, prefix])')
  end subroutine order_of_c

  subroutine expect(code, words, note)
    integer, intent(in) :: code
    character(len=*), intent(in) :: words
    character(len=*), intent(in), optional :: note
    character(len=:), allocatable :: report
    call tenon_get_last_error(text)
    call tenon_get_last_error_report(report)
    if (ierr == code .and. index(text, words) > 0) then
      if (.not. present(note)) return
      if (index(report, note) > 0) return
    end if
    print *, 'expected ', tenon_error_name(code), ': ', words
    print *, 'got      ', tenon_error_name(ierr), ': ', report
    error stop
  end subroutine expect
end program lists_refused
