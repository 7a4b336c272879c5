! SPDX-License-Identifier: BSD-2-Clause
! 09 Import: a network from PyTorch inside a solver.
!
! What you learn: how a network that was trained in PyTorch (../09_import/train.py) comes into the solver of tutorial 05 in
! one call, distributed as the solver is; that it proves at set-up that it is the same network; and what a program sees of
! a file that is damaged. The model's input [batch, channel, y, x] is the solver's array u(x, y).
!
!   mpiexec -n 4 fortran_09_import -model tutorials/09_import/closure.pt2
program import_network
  use heat
  use tenon
  use, intrinsic :: iso_fortran_env, only: int8
  implicit none
  real(real64), parameter :: step_length = 0.2_real64, later = 40
  integer, parameter :: reports = 4
  type(tenon_layer) :: network
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: input, output
  character(len=:), allocatable :: path
  integer :: steps, code

  call tenon_options_declare('09_import', 'model', TENON_OPTION_STRING, 'tutorials/09_import/closure.pt2', &
    'file of the network')
  call tenon_options_declare('09_import', 'use', TENON_OPTION_INT, '200', 'time steps of the three models')
  call tenon_options_own_command_line()
  call tenon_initialize('09 Import: a network from PyTorch'//new_line('a'))
  call tenon_options_get_string('model', path, prefix='-')
  call tenon_options_get_int('use', steps, prefix='-')
  call heat_create(MPI_COMM_WORLD)
  call create_network(path, code)
  if (code /= TENON_SUCCESS) error stop
  if (rank == 0) print '(a)', 'the network gives the results that PyTorch computed'
  call use_network()
  call destroy_network()
  call use_damaged()
  call MPI_Comm_free(plate)
  call tenon_finalize()
contains
  ! The graph and the weights, for the solver's boxes; the set-up runs the test in the file.
  subroutine create_network(file, ierr)
    character(len=*), intent(in) :: file
    integer, intent(out) :: ierr
    call tenon_layer_create_from_model(plate, file, network, ierr=ierr)
    if (ierr /= TENON_SUCCESS) return
    call tenon_layer_set_data_type(network, TENON_FLOAT64)
    call tenon_layer_set_training(network, .false.)
    call tenon_layout_create_from_boxes(plate, [x0, y0, 1, 1], [x1, y1, 1, 1], layout) ! x, y, channel, batch
    call tenon_layer_set_up(network, layout, ierr=ierr)
    if (ierr /= TENON_SUCCESS) return
    call tenon_dtensor_create(layout, TENON_FLOAT64, input)
    call tenon_layer_create_output(network, 1, output)
  end subroutine create_network

  subroutine destroy_network()
    call tenon_dtensor_destroy(output)
    call tenon_dtensor_destroy(input)
    call tenon_layer_destroy(network)
    call tenon_layout_destroy(layout)
  end subroutine destroy_network

  ! All three models from a cold plate.
  subroutine use_network()
    real(real64), allocatable, target :: truth(:, :), bare(:, :), closed(:, :), rate(:, :), missing(:, :)
    real(real64) :: time, errors(2)
    integer :: step
    call create_field(truth)
    call create_field(bare)
    call create_field(closed)
    call create_field(rate)
    call create_field(missing)
    do step = 1, steps
      time = later + step_length*step
      call exchange(truth)
      call conduction(truth, time, rate)
      call radiation(truth, missing)
      call add(truth, step_length, rate)
      call add(truth, step_length, missing)
      call exchange(bare)
      call conduction(bare, time, rate)
      call add(bare, step_length, rate)
      call exchange(closed)
      call conduction(closed, time, rate)
      call tenon_place(input, closed(x0:x1, y0:y1), array=closed)
      call tenon_place(output, missing(x0:x1, y0:y1), array=missing)
      call tenon_layer_apply(network, input, output)
      call add(closed, step_length, rate)
      call add(closed, step_length, missing)
      if (modulo(step*reports, steps) < reports) then
        errors = [distance(truth, bare), distance(truth, closed)]
        if (rank == 0) print '(a, i4, 4a)', 'use, step ', step, ': error without network ', scientific(errors(1)), &
          ', with network ', scientific(errors(2))
      end if
    end do
  end subroutine use_network

  ! A copy of the file in which one bit of the weights is another is an error on all ranks.
  subroutine use_damaged()
    character(len=*), parameter :: copy = 'damaged.pt2'
    integer(int8), allocatable :: bytes(:)
    integer :: from, to, length
    if (rank == 0) then
      open (newunit=from, file=path, access='stream', form='unformatted', status='old')
      inquire (unit=from, size=length)
      allocate (bytes(length))
      read (from) bytes
      close (from)
      bytes(129) = ieor(bytes(129), 1_int8)
      open (newunit=to, file=copy, access='stream', form='unformatted', status='replace')
      write (to) bytes
      close (to)
    end if
    call MPI_Barrier(plate)
    call tenon_push_error_handler(tenon_return_error_handler)
    call create_network(copy, code)
    call tenon_pop_error_handler()
    if (rank == 0) print '(2a)', 'a file with one wrong bit: ', tenon_error_name(code)
    call tenon_layer_destroy(network)
    call tenon_layout_destroy(layout)
  end subroutine use_damaged

  ! 1.2e-02, as C prints it.
  function scientific(value) result(text)
    real(real64), intent(in) :: value
    character(len=7) :: text
    write (text, '(es7.1e2)') value
    text(4:4) = 'e'
  end function scientific
end program import_network
