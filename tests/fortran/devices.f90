! SPDX-License-Identifier: BSD-2-Clause
! Tensors on the device and arrays there, by address; where there is no device, the reason.
program devices
  use mpi_f08
  use tenon
  use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
  implicit none
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x, y
  type(c_ptr) :: array
  character(len=:), allocatable :: message
  integer :: code, rank, space, standin
  double precision :: largest

  call tenon_initialize()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 4 * rank + 1], [6, 4 * rank + 4], layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_dtensor_get_space(x, space)
  call expect(space == TENON_MEMORY_HOST, 'a tensor does not begin on the host')
  call tenon_push_error_handler(tenon_return_error_handler)
  call tenon_dtensor_set_space(x, TENON_MEMORY_DEVICE, ierr=code)
  call tenon_pop_error_handler()
  if (code == TENON_SUCCESS) then
    call arrays
  else
    call get_environment_variable('TENON_STANDIN', status=standin)
    call expect(standin /= 0, 'the stand-in was not found')
    call tenon_get_last_error(message=message)
    call expect(code == TENON_ERR_SUPPORT .and. index(message, 'there is no device: ') > 0, message)
  end if
  call tenon_destroy(x)
  call tenon_destroy(layout)
  call tenon_finalize()
contains
  subroutine arrays
    call tenon_dtensor_get_device_array(x, TENON_FLOAT64, array)
    call expect(c_associated(array), 'no address')
    call tenon_dtensor_create(layout, TENON_FLOAT64, y)
    call tenon_dtensor_set_space(y, TENON_MEMORY_DEVICE)
    call tenon_dtensor_place_array(y, 24, first_owned=array)
    call tenon_dtensor_fill_constant(y, 3d0)
    call tenon_dtensor_max_abs(y, largest)
    call expect(abs(largest - 3) < 1d-12, 'the array was not filled')
    call tenon_destroy(y)
    call tenon_dtensor_restore_array(x, array)
    call tenon_dtensor_max_abs(x, largest)
    call expect(abs(largest - 3) < 1d-12, 'the array is another')
  end subroutine arrays

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) then
      print '(a)', what
      error stop 1
    end if
  end subroutine expect
end program devices
